// Transcendentals as expansions into basic operations of the IR: one definition for the interpreter and for every target.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// op in EXP EXP2 LOG LOG2 SIN COS TAN TANH ERF POW RSQRT, d in f32, f64; x: the operands, of dtype d and one lane.
// The result uses only CONST and operations that every target has; it is branch-free. f16 and bf16: cast to f32 and back.
Id expand_math(Graph& g, Op op, DType d, std::span<const Id> x);

}  // namespace kiln::compiler
