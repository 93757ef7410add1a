// sibling_kernels: makes one kernel of kernels that reduce the same buffer over equal ranges.
//
// Before: kernels A and B, where A comes first. Both have LOOP ranges of equal extents, and striped reductions of both load
//   from one buffer. Neither needs results of the other.
// After: one kernel replaces A, and B is gone. The kernel has the ENDs of A, then the ENDs of B, all over the ranges of A.
// Requires: kernel_split ran. split_reduce, an optional pass, runs before this pass, so that kernels of blocks join too.
// Ensures: the same elements are computed from the same elements.
//   In the list, each kernel precedes the kernels that load its results. A kernel that loads a buffer precedes the kernels that
//   reuse the memory of this buffer.
// Why: the buffer comes from memory once. fuse_reductions then makes one loop of the reductions.
// Example: a[i] = min_j x[i, j]; b[i] = max_j x[i, j], a kernel each
//   ->  for i: a[i] = min_j x[i, j]; b[i] = max_j x[i, j]
// A kernel without reductions joins too, as a tile step (elementwise_siblings.h).
// Literature: horizontal fusion.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void sibling_kernels(Graph& g, Schedule& s);

}  // namespace kiln::compiler
