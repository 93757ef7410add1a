// With r = 1/d rounded to nearest and its error r2, q = x*r + x*r2 is within one unit in the last place of x/d. Then
// q + (x - q*d)*r, where x - q*d is exact, rounds to x/d (Markstein, IBM Journal of Research and Development 34, 1990). This
// holds while no term overflows or loses bits to a subnormal number, so vectors with elements outside of a range are divided.
// Zeros are apart, because the sum of two zeros of different signs loses the sign.
#include "compiler/codegen/invariant_division.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/emit_either.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

constexpr std::uint32_t often = 2000;  // how often all elements are inside of the range, for each time that one is outside

// The result has the bits of the quotient if |x| and |d| are both between 2^least and 2^most.
struct Exponents {
  int least, most;
};
Exponents exact_range(const llvm::Type* element) { return element->isFloatTy() ? Exponents{-60, 60} : Exponents{-400, 400}; }

// Whether d is a constant power of two. LLVM makes one multiplication of such a division.
bool has_exact_inverse(const Value* d) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(d);
  const auto* all = constant == nullptr ? nullptr : llvm::dyn_cast_or_null<llvm::ConstantFP>(constant->getSplatValue());
  return all != nullptr && all->getValueAPF().getExactInverse(nullptr);
}

class InvariantDivision {
 public:
  InvariantDivision(LlvmBuilder& b, Value* x, Value* d)
      : b_(b), x_(x), d_(d), type_(x->getType()), element_(type_->getScalarType()) {}

  Value* emit() {
    Value* magnitude = magnitude_of(x_);
    Value* is_zero = b_.CreateICmpEQ(magnitude, llvm::Constant::getNullValue(magnitude->getType()));
    Value* x_is_out = outside(magnitude);
    Value* some_x = b_.CreateOrReduce(b_.CreateSelect(is_zero, llvm::Constant::getNullValue(x_is_out->getType()), x_is_out));
    Value* some_d = b_.CreateOrReduce(outside(magnitude_of(d_)));
    Value* out = b_.CreateOr(some_x, some_d);
    const auto by_division = [&] { return b_.CreateFDiv(x_, d_); };
    const auto by_product = [&] { return product(is_zero); };
    return emit_either(b_, out, by_division, by_product, llvm::MDBuilder(b_.getContext()).createBranchWeights(1, often));
  }

 private:
  Value* product(Value* is_zero) {
    Value* one = llvm::ConstantFP::get(type_, 1.0);
    Value* r = b_.CreateFDiv(one, d_);
    Value* minus_d = b_.CreateFNeg(d_);
    Value* r2 = b_.CreateFMul(fma(minus_d, r, one), r);
    Value* q = fma(x_, r, b_.CreateFMul(x_, r2));
    Value* rest = fma(b_.CreateFNeg(q), d_, x_);
    Value* zero = b_.CreateFMul(x_, r);
    return b_.CreateSelect(is_zero, zero, fma(rest, r, q));
  }

  Value* fma(Value* a, Value* b, Value* c) { return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c}); }

  // The bits of |v|. They grow with |v|.
  Value* magnitude_of(Value* v) {
    const unsigned bits = element_->getScalarSizeInBits();
    llvm::Type* integers = llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type_));
    return b_.CreateAnd(b_.CreateBitCast(v, integers), llvm::ConstantInt::get(integers, llvm::APInt::getSignedMaxValue(bits)));
  }

  Value* outside(Value* magnitude) {
    const auto [least, most] = exact_range(element_);
    const llvm::APInt low = bits_of_power(least), high = bits_of_power(most);
    Value* above = b_.CreateSub(magnitude, llvm::ConstantInt::get(magnitude->getType(), low));
    return b_.CreateICmpUGT(above, llvm::ConstantInt::get(magnitude->getType(), high - low));
  }

  llvm::APInt bits_of_power(int exponent) const {
    const llvm::APFloat one(element_->getFltSemantics(), 1);
    return llvm::scalbn(one, exponent, llvm::APFloat::rmNearestTiesToEven).bitcastToAPInt();
  }

  LlvmBuilder& b_;
  Value *x_, *d_;
  llvm::Type *type_, *element_;
};

}  // namespace

Value* emit_invariant_division(LlvmBuilder& b, Value* x, Value* d) {
  return has_exact_inverse(d) ? b.CreateFDiv(x, d) : InvariantDivision(b, x, d).emit();
}

}  // namespace kiln::compiler
