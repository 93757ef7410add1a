// simplify_ranges: makes loops fewer and longer.
//
// Before: kernels. Extents may be symbolic.
// After:
//   - A condition on extents that holds whenever the loops have iterations is gone: 0 < N in a loop over N.
//   - A LOOP range of extent 1 is index 0. A kernel keeps at least one range.
//   - Two adjacent LOOP ranges, or neighbouring ranges of a REDUCE, are one range if that pays (range_pair.h). Ranges stay
//     separate if an operand varies over one of them alone, as in the tiles of a matrix product.
//   - A REDUCE of a REDUCE of the same kind is one REDUCE if their ranges merge and the order of elements does not matter (max,
//     min, any, all; sum and prod of integers).
//   - RANGE ids count from 0: LOOPs, outermost first, then REDUCEs.
// Requires: kernel_split ran. Kernels with tile steps are left alone: lowering merges the ranges of each tile step.
// Ensures: the same elements are computed from the same elements, in the same order where the order matters.
// Example: END(STORE(y, r0*W + r1, v), r0 < H, r1 < W)   ->   END(STORE(y, r0, v), r0 < H*W)
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void simplify_ranges(Graph& g, Schedule& s);

}  // namespace kiln::compiler
