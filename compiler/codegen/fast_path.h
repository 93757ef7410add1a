// Finds the programs and the extents for which the arithmetic of the fast path (entry.h) cannot overflow.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Largest absolute value of a stride that the fast path accepts.
inline constexpr std::int64_t fast_stride = std::int64_t{1} << 22;

// The symbols that are extents, without strides.
std::vector<Symbol> extents_of(const Program& p);

// The facts for which no expression of the fast path overflows. nullopt: the program has no fast path.
std::optional<Facts> fast_path_facts(const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered);

}  // namespace kiln::compiler
