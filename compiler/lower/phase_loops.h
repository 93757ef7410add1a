// phase_loops: writes out short loops of reductions whose indices divide the counter.
//
// Before: an innermost FOR with a small constant number of iterations. It carries vectors and has no effects. An index in it
//   has a quotient or remainder of its counter by a constant, and a product with a stride that only the call knows, as in a
//   convolution with steps, whose windows are stored by phase.
// After: its iterations, one after the other. The quotients and remainders are constants.
// Requires: loops are made.
// Ensures: each value is computed by the same operations in the same order.
// Why: each iteration would compute the quotients and the products.
// Example: for k in 0..3: a += w[k] * x[(k % 2) * S + k // 2]  ->  a += w[0] * x[0]; a += w[1] * x[S]; a += w[2] * x[1]
// Literature: loop unrolling.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

Id phase_loops(Graph& g, RangeIds& loops, Id sink);

}  // namespace kiln::compiler
