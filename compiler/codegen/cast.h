// Conversions between element types, lane by lane, with the one rounding that the semantics ask for.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

llvm::Value* emit_cast(Builder& b, llvm::Value* v, DType from, DType to);
llvm::Value* emit_bitcast(Builder& b, llvm::Value* v, DType from, DType to);

// f16 and bf16 arithmetic is done in f32 and rounded after each operation; other types pass through.
llvm::Value* widen(Builder& b, llvm::Value* v, DType d);
llvm::Value* narrow(Builder& b, llvm::Value* v, DType d);

}  // namespace kiln::compiler
