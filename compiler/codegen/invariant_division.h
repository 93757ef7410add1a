// Division of floats by a value that is the same in all iterations of a loop, for CPUs with AVX-512. Its division of a vector
// of 64 bytes takes 10 to 16 cycles, and the instructions here take 4 to 6.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// x / d in each lane, for vectors of f32 and f64, with the bits of the division. Its blocks end in the block that b inserts
// into.
llvm::Value* emit_invariant_division(LlvmBuilder& b, llvm::Value* x, llvm::Value* d);

}  // namespace kiln::compiler
