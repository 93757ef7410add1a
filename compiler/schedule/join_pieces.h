// join_pieces: computes the equal pieces of a concatenation in one iteration, if they need the same elements.
//
// Before: a kernel without reductions; the range r of an axis of its results is compared with constants, which cut it into 2 to
//   4 pieces of equal length, as the pieces of a concatenation. The pieces load mostly the same elements.
// After: a range q over the elements of a piece in place of r, and a new innermost range p over the pieces; r is p * length +
// q.
//   A comparison of r is one of p. Lowering writes short innermost ranges out, so the pieces share their loads.
// Requires: kernel_split ran. Kernels with tile steps stay.
// Ensures: the same elements are computed from the same elements.
// Why: otherwise each piece has a part of the loop for itself, and loads the elements again.
// Example: y = concat(a + b, a - b) of two tensors of 8 elements: r < 16, y[r] = r < 8 ? a[r] + b[r] : a[r - 8] - b[r - 8]
//   ->  q < 8, p < 2: y[p*8 + q] = p < 1 ? a[q] + b[q] : a[q] - b[q]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void join_pieces(Graph& g, Schedule& s);

}  // namespace kiln::compiler
