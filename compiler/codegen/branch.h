// A value that one of two blocks computes.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// on_true() where the condition holds, else on_false(). Each of them emits code at b. Then b continues in a block of its own.
// weights: how often each side runs; null: not known.
llvm::Value* emit_either(LlvmBuilder& b, llvm::Value* condition, llvm::function_ref<llvm::Value*()> on_true,
                         llvm::function_ref<llvm::Value*()> on_false, llvm::MDNode* weights = nullptr);

}  // namespace kiln::compiler
