#include "compiler/codegen/division.h"

#include <llvm/IR/PatternMatch.h>

namespace kiln::compiler {
namespace {

llvm::Value* zero_like(llvm::Value* like) { return llvm::Constant::getNullValue(like->getType()); }

// Maximum, for divisors that must not be 0 (or -1). A select would be clearer, but LLVM's InstCombine divides by both of its
// arms. If an arm is a constant vector with a 0 in one lane, the whole quotient becomes undefined.
llvm::Value* at_least(LlvmBuilder& b, llvm::Value* y, std::int64_t least) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, y, int_like(y->getType(), least));
}

struct Divided {
  llvm::Value *quotient, *remainder;
};

// Vectors have no instruction for integer division, but one for floats. The quotient of two integers of at most w bits that is
// no integer is at least 1/|y| away from the next one. The float quotient differs from it by at most |x / y| / 2^p, for p bits
// of precision. With w <= 16 and p = 24, or w <= 32 and p = 53, that is less, so the truncated float is the truncated quotient.
Divided divided_as_floats(LlvmBuilder& b, bool is_signed, llvm::Value* x, llvm::Value* y) {
  llvm::Type* const narrow = x->getType();
  const unsigned bits = narrow->getScalarSizeInBits();
  const auto lanes = [&](llvm::Type* element) { return llvm::VectorType::get(element, llvm::cast<llvm::VectorType>(narrow)); };
  llvm::Type* const type = lanes(b.getInt32Ty());
  llvm::Type* const real = lanes(bits <= 16 ? b.getFloatTy() : b.getDoubleTy());
  const bool has_sign = is_signed || bits < 32;  // narrower numbers without a sign fit i32
  const auto wide = [&](llvm::Value* v) { return is_signed ? b.CreateSExt(v, type) : b.CreateZExt(v, type); };
  const auto as_real = [&](llvm::Value* v) { return has_sign ? b.CreateSIToFP(v, real) : b.CreateUIToFP(v, real); };
  llvm::Value *const a = wide(x), *const c = wide(y);
  llvm::Value *const top = as_real(a), *const below = as_real(c);
  llvm::Value* const real_quotient = b.CreateFDiv(top, below);
  llvm::Value* const quotient = has_sign ? b.CreateFPToSI(real_quotient, type) : b.CreateFPToUI(real_quotient, type);
  llvm::Value* const remainder = b.CreateSub(a, b.CreateMul(quotient, c));
  return {b.CreateTrunc(quotient, narrow), b.CreateTrunc(remainder, narrow)};
}

// By `safe`, which is the divisor where that is not 0 and not -1. LLVM makes products of constant divisors.
Divided divided(LlvmBuilder& b, bool is_signed, llvm::Value* x, llvm::Value* divisor, llvm::Value* safe) {
  const bool is_vector = x->getType()->isVectorTy() && x->getType()->getScalarSizeInBits() <= 32;
  if (is_vector && !llvm::isa<llvm::Constant>(divisor)) return divided_as_floats(b, is_signed, x, safe);
  if (is_signed) return {b.CreateSDiv(x, safe), b.CreateSRem(x, safe)};
  return {b.CreateUDiv(x, safe), b.CreateURem(x, safe)};
}

llvm::Value* unsigned_division(LlvmBuilder& b, bool mod, llvm::Value* x, llvm::Value* y) {
  llvm::Value* by_zero = b.CreateICmpEQ(y, zero_like(y));
  const Divided made = divided(b, false, x, y, at_least(b, y, 1));
  if (mod) return made.remainder;  // x mod 1 = 0
  return b.CreateSelect(by_zero, zero_like(x), made.quotient);
}

// Floor division by a positive power of two is a shift; the remainder is a mask.
llvm::Value* floor_by_power(LlvmBuilder& b, bool mod, llvm::Value* x, const llvm::APInt& y) {
  if (mod) return b.CreateAnd(x, llvm::ConstantInt::get(x->getType(), y - 1));
  return b.CreateAShr(x, llvm::ConstantInt::get(x->getType(), llvm::APInt(y.getBitWidth(), y.logBase2())));
}

}  // namespace

llvm::Value* emit_division(LlvmBuilder& b, Op op, DType d, llvm::Value* x, llvm::Value* y) {
  const bool mod = op == Op::CMOD || op == Op::FLOORMOD;
  const bool floor = op == Op::FLOORDIV || op == Op::FLOORMOD;
  if (!is_signed(d)) return unsigned_division(b, mod, x, y);
  const llvm::APInt* divisor = nullptr;
  if (floor && llvm::PatternMatch::match(y, llvm::PatternMatch::m_APInt(divisor)) && divisor->isStrictlyPositive() &&
      divisor->isPowerOf2())
    return floor_by_power(b, mod, x, *divisor);
  llvm::Value* by_zero = b.CreateICmpEQ(y, zero_like(y));
  llvm::Value* by_minus_one = b.CreateICmpEQ(y, int_like(y->getType(), -1));
  llvm::Value* one = int_like(y->getType(), 1);
  llvm::Value* safe = b.CreateSub(at_least(b, b.CreateAdd(y, one), 2), one);
  const Divided made = divided(b, true, x, y, safe);
  llvm::Value* rest = made.remainder;
  // The remainder has the sign of x; the floor forms need the sign of y.
  llvm::Value* differs = b.CreateICmpSLT(b.CreateXor(rest, safe), zero_like(x));
  llvm::Value* adjust = b.CreateAnd(b.CreateICmpNE(rest, zero_like(x)), differs);
  if (mod) return floor ? b.CreateAdd(rest, b.CreateSelect(adjust, safe, zero_like(x))) : rest;
  llvm::Value* quotient = made.quotient;
  if (floor) quotient = b.CreateAdd(quotient, b.CreateSExt(adjust, x->getType()));
  quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, zero_like(x), quotient);
}

}  // namespace kiln::compiler
