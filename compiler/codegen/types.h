// LLVM types and constants of IR values. In registers a bool is i1, f16 and bf16 are their bits in an i16, and index is i64. In
// memory a bool is one byte, 0 or 1.
#pragma once

#include <cstdint>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/dtype.h"

namespace kiln::compiler {

using LlvmBuilder = llvm::IRBuilder<>;

inline bool is_signed(DType d) { return is_signed_int(d) || d == DType::index; }
inline bool is_integer(DType d) { return is_int(d) || d == DType::index; }
inline bool is_narrow_float(DType d) { return d == DType::f16 || d == DType::bf16; }

llvm::Type* scalar_type(llvm::LLVMContext& c, DType d);
llvm::Type* register_type(llvm::LLVMContext& c, DType d, int lanes);
llvm::Type* memory_type(llvm::LLVMContext& c, DType d, int lanes);
llvm::Constant* constant(llvm::LLVMContext& c, DType d, std::uint64_t bits, int lanes);

int lane_count(const llvm::Value* v);
llvm::Type* with_lanes(llvm::Type* scalar, int lanes);
llvm::Constant* int_like(llvm::Type* type, std::int64_t value);  // in all lanes of a vector

}  // namespace kiln::compiler
