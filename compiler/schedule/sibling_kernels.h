// sibling_kernels: makes one kernel of kernels that reduce the same buffer over equal ranges.
//
// Before: kernels A and B, where A comes first. Both have LOOP ranges of equal extents, and striped reductions of both load
//   from one buffer. Neither needs results of the other.
// After: in the place of A, one kernel with the ENDs of A and then those of B, over the ranges of A.
// Requires: split_reduce ran, so that the kernels of single blocks are there.
// Ensures: the same elements are computed from the same elements.
//   A kernel still comes before the kernels that load its results, and before those that reuse the memory that it loads.
// Why: the buffer comes from memory once. fuse_reductions then makes one loop of the reductions.
// Example: a[i] = min_j x[i, j]; b[i] = max_j x[i, j], a kernel each
//   ->  for i: a[i] = min_j x[i, j]; b[i] = max_j x[i, j]
// Literature: horizontal fusion.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void sibling_kernels(Graph& g, Schedule& s);

}  // namespace kiln::compiler
