// Expands transcendental operations into basic operations of the IR: one definition for the interpreter and every target.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// op: one of is_math (ir/op.h), or SCALE. d: f32 or f64; cast f16 and bf16 to f32 and back. x: the operands, of dtype d and
// one lane. The result is free of branches and uses only CONST, SCALE, and operations that every target has. If op is SCALE,
// the result has only products.
Id expand_math(Graph& g, Op op, DType d, std::span<const Id> x);

// An odd function has f(-x) = -f(x), an even one f(-x) = f(x): the same bits, or two NaNs. `none`: neither is known.
enum class Symmetry { none, odd, even };
Symmetry symmetry(Op op);

}  // namespace kiln::compiler
