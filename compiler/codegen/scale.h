// SCALE on CPUs with AVX-512: the instruction vscalef.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// x * 2^n in each lane, for f32 and f64.
llvm::Value* emit_scale(LlvmBuilder& b, llvm::Value* x, llvm::Value* n);

}  // namespace kiln::compiler
