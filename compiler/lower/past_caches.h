// Stores past the caches (non-temporal stores), for results that are larger than the caches.
//
// An ordinary store first loads its cache line from memory, and evicts another line. A store of a whole line past the caches
// does neither. It pays if the arrays of the kernel do not fit the caches, because then the result does not stay there either.
// The lines of an array that the kernel also reads are in the cache anyway, so its stores stay ordinary.
// Example: y = a * b over 16M elements of f32 moves 192 MiB in place of 256 MiB
#pragma once

#include <cstdint>
#include <span>

#include "compiler/ir/graph.h"
#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// From how many iterations of the kernel on stores[0] goes past the caches; 0: never. lanes: the range whose neighbouring
// iterations store neighbouring elements.
std::int64_t past_caches_from(const Graph& g, std::span<const Id> stores, Id lanes);

// An index expression: 1 if the loops of the plan have at least `from` iterations, else 0.
Id is_past_caches(Graph& g, std::span<const LoopPlan> plan, std::int64_t from);

// The STORE past the caches. Its address must be a multiple of the size of a register.
Id store_past_caches(Graph& g, Id store);

}  // namespace kiln::compiler
