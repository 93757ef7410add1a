// DOT2: the instruction pmaddwd of x86-64.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// In each lane, the product of the low halves of two i32 plus the product of their high halves.
llvm::Value* emit_dot2(LlvmBuilder& b, llvm::Value* x, llvm::Value* y);

}  // namespace kiln::compiler
