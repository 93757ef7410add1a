// Applies instructions that take one register to scalars and to vectors of any length.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// f(a, b) in each lane of two values of one type. Vectors are cut into registers of the target; scalars and short vectors are
// padded to 16 bytes. f gets vectors of 16, 32 or 64 bytes.
llvm::Value* in_registers(LlvmBuilder& b, llvm::Value* x, llvm::Value* y,
                          llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> f);

}  // namespace kiln::compiler
