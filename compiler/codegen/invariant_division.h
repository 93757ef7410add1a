// Division of floats by a value that is the same in all iterations of a loop, for CPUs with AVX-512: multiply-adds with the
// reciprocal of that value take less time than the division of a 64-byte register.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// x / d in each lane, for vectors of f32 and f64, with the bits of the division. Emits a branch; b continues in another block.
llvm::Value* emit_invariant_division(LlvmBuilder& b, llvm::Value* x, llvm::Value* d);

}  // namespace kiln::compiler
