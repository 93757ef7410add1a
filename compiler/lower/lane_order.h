// lane_order: lets the lanes of vectors have the order in which cheap shuffles leave them.
//
// Before: vectors of one register, whose lane i is iteration i. Every second or every fourth element of memory takes shuffles
//   within 16 bytes, and one more that brings the parts of 16 bytes into order (interleave_shuffles.h).
// After: the lanes of elementwise operations that belong together, with the values that loops carry between them, have another
//   order, if that takes fewer instructions: the shuffles into order are gone, and other operands and results have a shuffle.
//   Each lane computes the same as before.
// Requires: loops are made.
// Why: if most operands of a loop have stride 2, as in a convolution or a pooling with stride 2, one shuffle of the result
//   replaces one for each operand.
// Example: 8 lanes. STORE(y, i, a + b) of the even elements of two arrays  ->  a and b have the lanes 0 1 4 5 2 3 6 7, and so
//   has their sum. A SHUFFLE brings it into order for the STORE.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

Id lane_order(Graph& g, Id sink, const Target& target);

}  // namespace kiln::compiler
