// Integer division that is defined for all operands and never traps: x / 0 = 0, x mod 0 = 0, lowest / -1 wraps.
#pragma once

#include "compiler/codegen/types.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// op: CDIV, CMOD, FLOORDIV or FLOORMOD.
llvm::Value* emit_division(LlvmBuilder& b, Op op, DType d, llvm::Value* x, llvm::Value* y);

}  // namespace kiln::compiler
