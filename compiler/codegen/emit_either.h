// A value that one of two blocks computes.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// The value of on_true() if the condition holds, else the value of on_false(). Each function emits its code at b. Afterwards
// b is at a new block. weights: how often each side runs; null: not known.
llvm::Value* emit_either(LlvmBuilder& b, llvm::Value* condition, llvm::function_ref<llvm::Value*()> on_true,
                         llvm::function_ref<llvm::Value*()> on_false, llvm::MDNode* weights = nullptr);

}  // namespace kiln::compiler
