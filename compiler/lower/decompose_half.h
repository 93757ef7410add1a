// decompose_half: rewrites f16 and bf16 arithmetic as f32 arithmetic that rounds once per operation.
//
// Before: arithmetic and comparisons on f16 and bf16.
// After: f32 arithmetic between CASTs. NEG and ABS are integer operations on the sign bit (BITCAST u16). MIN, MAX and WHERE
//   stay, because they only select an operand. REDUCE stays, because reduce_lowering accumulates in f32.
// Requires: no transcendental operations (decompose_math ran).
// Example: ADD(a, b) on f16  ->  CAST f16 (ADD f32 (CAST f32 a, CAST f32 b))
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id decompose_half(Graph& g, Id sink);

}  // namespace kiln::compiler
