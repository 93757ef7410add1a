// decompose_math: transcendental operations -> basic operations.
//
// before: EXP, EXP2, LOG, LOG2, SIN, COS, TAN, TANH, ERF, POW, RSQRT on any float type. after: their expansion (math/expand.h),
// the very graph that the interpreter evaluates; f16 and bf16 widen to f32, expand there and round once.
// precondition: K level. postcondition: none of these operations is left.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id decompose_math(Graph& g, Id sink);

}  // namespace kiln::compiler
