// phases: a kernel whose stores have different loops, which share the outermost range at most -> one loop over its turns.
//
// before: SINK(END(a, t, i), END(b, t, j)). after: FOR t { FOR i { a }, FOR j { b } }. Each phase has a plan of its own. A
// buffer with a window is kept for a chunk: where element `i` is at `t * window + rest`, the access goes to `$begin * window +
// rest`. Then chunks are counted, `most_chunks` at most, in place of turns. precondition: K level, no INVALID. postcondition:
// every loop has a RANGE of its own.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/target.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// One SINK for each run of effects with equal loops.
std::vector<Id> phases_of(Graph& g, Id sink);

Id joined(Graph& g, std::span<const Id> phases);  // their effects in one SINK

// By kernel slot; no_id where the whole buffer is kept.
std::vector<Id> windows_of(const Schedule& schedule, const Kernel& kernel);

// phases: one SINK each, reductions lowered. Of the result, `work` is not set.
LoweredKernel in_turns(Graph& g, LoopIds& loops, std::vector<Id> windows, std::span<const Id> phases, const Facts& facts,
                       const Target& target);

}  // namespace kiln::compiler
