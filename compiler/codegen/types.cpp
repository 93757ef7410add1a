#include "compiler/codegen/types.h"

#include <stdexcept>

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/DerivedTypes.h>

namespace kiln::compiler {

llvm::Type* scalar_type(llvm::LLVMContext& c, DType d) {
  switch (d) {
    case DType::boolean: return llvm::Type::getInt1Ty(c);
    case DType::f32: return llvm::Type::getFloatTy(c);
    case DType::f64: return llvm::Type::getDoubleTy(c);
    case DType::none: throw std::logic_error("codegen: a value of type none");
    default: return llvm::IntegerType::get(c, static_cast<unsigned>(bits(d)));
  }
}

llvm::Type* with_lanes(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

llvm::Type* register_type(llvm::LLVMContext& c, DType d, int lanes) { return with_lanes(scalar_type(c, d), lanes); }

llvm::Type* memory_type(llvm::LLVMContext& c, DType d, int lanes) {
  return d == DType::boolean ? with_lanes(llvm::Type::getInt8Ty(c), lanes) : register_type(c, d, lanes);
}

llvm::Constant* constant(llvm::LLVMContext& c, DType d, std::uint64_t value, int lanes) {
  const auto width = static_cast<unsigned>(d == DType::boolean ? 1 : bits(d));
  const llvm::APInt all = llvm::APInt(64, value).trunc(width);
  llvm::Type* type = scalar_type(c, d);
  llvm::Constant* one = nullptr;
  switch (d) {
    case DType::f32: one = llvm::ConstantFP::get(c, llvm::APFloat(llvm::APFloat::IEEEsingle(), all)); break;
    case DType::f64: one = llvm::ConstantFP::get(c, llvm::APFloat(llvm::APFloat::IEEEdouble(), all)); break;
    default: one = llvm::ConstantInt::get(type, all); break;
  }
  return lanes == 1 ? one : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(lanes)), one);
}

int lane_count(const llvm::Value* v) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

// The value wraps to the type's width.
llvm::Constant* int_like(llvm::Type* type, std::int64_t value) {
  return llvm::ConstantInt::get(type, llvm::APInt(64, static_cast<std::uint64_t>(value)).trunc(type->getScalarSizeInBits()));
}

}  // namespace kiln::compiler
