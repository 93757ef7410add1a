// The transposes of linear operations: the adjoint of an operand from the adjoint of the result. Reductions, reads and windows
// included; elementwise operations are in partials.h.
#pragma once

#include "compiler/autodiff/product.h"
#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The adjoint of the operand of an edge. derivative: the GRADIENT, for errors. Not for elementwise operations and CUSTOM.
Adjoint transposed(Rules& rules, Id derivative, Id node, const Edge& edge, const Adjoint& adjoint);

// The factor of each element of x in the derivative of `reduce x, prod` along one axis: the product of the other elements.
Id products_of_others(Emit& e, Id x, std::size_t axis);
// Whether each element of x is the one that the reduction `node` of x by max or min takes: in row-major order of the reduced
// axes the first one that equals the result, or the first NaN.
Id is_extreme(Emit& e, Id node, Id x);

// Whether an element of the tensor is the one at the index, or has these first indices, and the gate is true. no_id: always.
Id is_at(Emit& e, Id tensor, std::span<const Id> index, Id gate);

}  // namespace kiln::compiler::autodiff
