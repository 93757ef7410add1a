// pair_products: multiplies small integers two at a time, in matrix products that sum in i32.
//
// Before: REDUCE over r of the products a * b in i32 or u32, spelled as fma or as a sum; all values of a and of b fit i16.
// After: REDUCE over pairs of r of DOT2. An operand is an i32 word: the element of an even r in its low half, and that of the
//   next r in its high half. If the extent of r is odd, the last word of b has 0 in its high half. pack_operands stores the
//   words.
// Requires: kernel_split ran.
// Ensures: the same bits. Sums of i32 wrap, so their order does not matter; DOT2 wraps like the sum of two products.
// Why: pmaddwd multiplies 2 pairs of i16 for each i32 lane in the time of one product. The widening of the elements moves
//   from the product to the copy.
// Exceptions, because the copies would cost more than the products: a sum of fewer than 16 products, and a product with an
//   operand that the kernel's loops read fewer than 8 times, as in a product of a matrix and a vector. An unknown extent
//   counts as large. If a symbolic extent is always small, declare a maximum.
// Example: REDUCE{cast i32 a[i, r], cast i32 b[r, j], r < K} args {fma}  ->  REDUCE{DOT2(A, B), q < (K + 1) // 2} args {sum},
//   where A = a[i, 2q] & 0xffff | a[i, 2q + 1] << 16 and B = b[2q, j] & 0xffff | (2q + 1 < K ? b[2q + 1, j] : 0) << 16
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void pair_products(Graph& g, Schedule& s);

}  // namespace kiln::compiler
