// large_products: gives a matrix product of symbolic extents a second version for calls with large operands.
//
// Before: a kernel with an fma REDUCE that reads a contiguous operand, whose extents pack_operands does not know.
// After: three kernels in place of one. An index expression, 0 or 1, says whether the operand is large: it has at least
//   fewest_panels panels of columns, does not fit the cache, and is read at least walks_for_panels times (packed_operand.h).
//   If it is, the first kernel copies the operand into panels, and the third one computes the product from them.
//   Otherwise the second kernel computes the product in place. The kernels that a call does not need have 0 iterations.
//   If the symbols' facts decide the expression, there is one version.
// Requires: kernel_split ran. fuse_rows, an optional pass, runs before this pass and not after it: a fused kernel stays.
// Ensures: the same elements are reduced in the same order.
// Why: small operands are fastest in place, and large ones in panels (see pack_operands). Only the call knows which it has.
// Example: y[i < M, j < N] = sum of a[i, r] * b[r, j]   ->
//   p[J, r < K * large, l < 64] = b[r, J * 64 + l]
//   y[i < M * (1 - large), j < N] = sum of a[i, r] * b[r, j]
//   y[i < M * large, J * 64 + l] = sum of a[i, r] * p[J, r, l]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void large_products(Graph& g, Schedule& s);

}  // namespace kiln::compiler
