// split_columns: computes the last few columns of a product apart, if they would fill only a small part of a vector.
//
// Before: a kernel over rows i and columns j, of constant extents, with one fma REDUCE of a left operand a[i, ..] and a right
//   operand b[.., j]. The left operand's terms are neighbours in memory. There are 1 to 4 columns more than a multiple of 16.
// After: the kernel without the last columns, and three kernels for them:
//   - the right operand's last columns are copied, one after the other for each term
//   - the sums of the last columns. Their lanes run over the rows, whose terms are transposed in registers (transpose_loads.h).
//     One range has all terms.
//   - the old kernel for the last columns only, with the sum's LOAD in place of the REDUCE. It stores them.
// Requires: kernel_split ran.
// Ensures: the same products are added in the same order.
// Why: a plane of 7 x 7 pixels has 49 columns: three vectors of 16 lanes, and one lane of a fourth vector, which takes as
//   long as the others.
// Example: y[o < 2048, f < 49] = sum over c < 512 of w[o, c] * x[c, f]   ->   y[o, f < 48] = the same,
//   p[c] = x[c, 48],   q[o] = sum over c of w[o, c] * p[c],   y[o, 48] = q[o]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void split_columns(Graph& g, Schedule& s);

}  // namespace kiln::compiler
