// The extremum of two floats: NaN if either is NaN, and -0 is below +0.
#pragma once

#include "compiler/codegen/types.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

// x and y: f32 or f64, scalars or vectors.
llvm::Value* emit_extremum(LlvmBuilder& b, Op op, llvm::Value* x, llvm::Value* y);

// The same, but where both are zeros the result may be either of them. Only x is tested for NaN, because the instruction
// returns y if either is one. is_number: x is no NaN, so it is not tested either.
llvm::Value* emit_extremum_of_any_zero(LlvmBuilder& b, Op op, llvm::Value* x, llvm::Value* y, bool is_number);

}  // namespace kiln::compiler
