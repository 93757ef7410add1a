// memory_plan: gives each temporary an offset in one arena, the workspace.
//
// Before: temporaries without `offset`.
// After: each offset is an index expression over symbols, a multiple of 64: a constant, a polynomial, or the maximum of a few
//   such expressions. Schedule::workspace_bytes is the arena's size.
// Requires: dependencies ran.
// Ensures: two buffers that may be live at the same time never overlap. Two buffers may share bytes if, by depends_on, all
//   users of one have ended before any user of the other begins.
// Algorithm: placement.h places the buffers for typical values of the symbols. For all values, a buffer begins at the
//   maximum of the ends of the conflicting buffers below it. Programs of thousands of kernels use memory_in_order.
// Example: kernels x -> t0 -> t1 -> t2 -> y over N floats: t0 and t2 share bytes; the workspace has 8*N bytes plus rounding.
#pragma once

#include "compiler/ir/schedule.h"
#include "compiler/schedule/placement.h"

namespace kiln::compiler {

void memory_plan(Graph& g, Schedule& s);

// The placement problem for typical values of the symbols. Block i is the temporary buffers[i].
struct MemoryProblem {
  std::vector<std::size_t> buffers;
  PlacementProblem placement;
};
MemoryProblem memory_problem(Graph& g, const Schedule& s);

}  // namespace kiln::compiler
