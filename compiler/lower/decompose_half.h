// decompose_half: f16 and bf16 arithmetic -> f32 arithmetic and one rounding per operation.
//
// before: ADD(a, b) on f16. after: CAST f16 (ADD(CAST f32 a, CAST f32 b)); NEG and ABS flip or clear the sign bit of the bits.
// precondition: no transcendentals. postcondition: f16 and bf16 appear only in LOAD, STORE, CAST, BITCAST, WHERE, MIN, MAX,
// CONST, REDUCE.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id decompose_half(Graph& g, Id sink);

}  // namespace kiln::compiler
