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

llvm::Value* unsigned_division(LlvmBuilder& b, bool mod, llvm::Value* x, llvm::Value* y) {
  llvm::Value* by_zero = b.CreateICmpEQ(y, zero_like(y));
  llvm::Value* safe = at_least(b, y, 1);
  if (mod) return b.CreateURem(x, safe);  // x mod 1 = 0
  return b.CreateSelect(by_zero, zero_like(x), b.CreateUDiv(x, safe));
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
  llvm::Value* rest = b.CreateSRem(x, safe);
  // The remainder has the sign of x; the floor forms need the sign of y.
  llvm::Value* differs = b.CreateICmpSLT(b.CreateXor(rest, safe), zero_like(x));
  llvm::Value* adjust = b.CreateAnd(b.CreateICmpNE(rest, zero_like(x)), differs);
  if (mod) return floor ? b.CreateAdd(rest, b.CreateSelect(adjust, safe, zero_like(x))) : rest;
  llvm::Value* quotient = b.CreateSDiv(x, safe);
  if (floor) quotient = b.CreateAdd(quotient, b.CreateSExt(adjust, x->getType()));
  quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, zero_like(x), quotient);
}

}  // namespace kiln::compiler
