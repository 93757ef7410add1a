// Conversions between element types, lane by lane, with exactly the rounding of docs/reference/numbers.md.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

llvm::Value* emit_cast(LlvmBuilder& b, llvm::Value* v, DType from, DType to);
llvm::Value* emit_bitcast(LlvmBuilder& b, llvm::Value* v, DType from, DType to);

// Between an f16 or bf16 value and the f32 in which its arithmetic is done. Other types do not change.
llvm::Value* widen(LlvmBuilder& b, llvm::Value* v, DType d);
llvm::Value* narrow(LlvmBuilder& b, llvm::Value* v, DType d);

}  // namespace kiln::compiler
