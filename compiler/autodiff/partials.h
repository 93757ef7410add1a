// The table of partial derivatives of elementwise operations. Forward mode multiplies them with a tangent, reverse mode with an
// adjoint, so one table serves both.
#pragma once

#include "compiler/autodiff/emit.h"

namespace kiln::compiler::autodiff {

// The operands of an elementwise operation by which it has a derivative, as bits: operand i is bit i. 0: none.
unsigned derivative_operands(Op op);

// t times the derivative of `node` by operand i. t has the type of the node, and a shape that broadcasts with the node's. For
// f16 and bf16 the product is computed in f32 from the operands, and rounded once. A CAST gives the type of its operand if
// `back`, else its own type.
Id times_partial(Emit& e, Id node, std::size_t i, Id t, bool back);

}  // namespace kiln::compiler::autodiff
