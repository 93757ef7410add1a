// Laplacians by forward mode: each node between x and y has a triple of its value, its K first derivatives and its sum of
// second derivatives. A unary f has L' = f' L + f'' (sum over k of squares of the first derivatives), and linear operations act
// on each part. So one pass with K tangents serves for K second derivatives.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The sum of second derivatives of y by the axes of x that y lacks, whose extents are constants. derivative: the LAPLACIAN, for
// errors. no_id: y does not depend on x.
Id laplacian(Rules& rules, Id derivative, Id y, Id x);

}  // namespace kiln::compiler::autodiff
