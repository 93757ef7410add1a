#include "compiler/codegen/half_conversions.h"

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace kiln::compiler {
namespace {

using llvm::Value;

// f16: 5 bits of exponent with bias 15, 10 of mantissa. f32: 8 bits with bias 127, 23 of mantissa.
constexpr std::uint32_t bias_difference = 127 - 15, mantissa_difference = 23 - 10;
constexpr std::uint32_t f32_infinity = 0x7f800000, f32_half = 0x3f000000;

class Expansion {
 public:
  explicit Expansion(llvm::CastInst* at) : b_(at) {
    const auto like = [&](llvm::Type* element) { return at->getType()->getWithNewType(element); };
    words_ = like(b_.getInt32Ty());
    floats_ = like(b_.getFloatTy());
    shorts_ = like(b_.getInt16Ty());
    halves_ = like(b_.getHalfTy());
  }

  // The bits below the sign, moved to the mantissa of f32, are the value times 2^-112: also of a subnormal value.
  Value* to_f32(Value* half) {
    Value* h = b_.CreateZExt(b_.CreateBitCast(half, shorts_), words_);
    Value *sign = b_.CreateShl(b_.CreateAnd(h, word(0x8000)), 16), *rest = b_.CreateAnd(h, word(0x7fff));
    Value* moved = b_.CreateShl(rest, mantissa_difference);
    Value* scale = b_.CreateBitCast(word((127 + bias_difference) << 23), floats_);
    Value* finite = b_.CreateBitCast(b_.CreateFMul(b_.CreateBitCast(moved, floats_), scale), words_);
    Value* special = b_.CreateOr(moved, word(f32_infinity));
    Value* is_special = b_.CreateICmpUGE(rest, word(0x7c00));
    return b_.CreateBitCast(b_.CreateOr(b_.CreateSelect(is_special, special, finite), sign), floats_);
  }

  Value* to_half(Value* f32) {
    Value* x = b_.CreateBitCast(f32, words_);
    Value *sign = b_.CreateAnd(b_.CreateLShr(x, 16), word(0x8000)), *rest = b_.CreateAnd(x, word(0x7fffffff));
    // Round to nearest, ties to even: an odd last bit adds one more. A carry goes into the exponent.
    Value* last = b_.CreateAnd(b_.CreateLShr(rest, mantissa_difference), word(1));
    Value* rounded = b_.CreateAdd(b_.CreateAdd(rest, word((1u << (mantissa_difference - 1)) - 1)), last);
    Value* normal = b_.CreateLShr(b_.CreateSub(rounded, word(bias_difference << 23)), mantissa_difference);
    // The last bit of 0.5 + x is 2^-24, which is the smallest f16, so the addition rounds.
    Value *magnitude = b_.CreateBitCast(rest, floats_), *offset = b_.CreateBitCast(word(f32_half), floats_);
    Value* sum = b_.CreateFAdd(magnitude, offset);
    Value* subnormal = b_.CreateSub(b_.CreateBitCast(sum, words_), word(f32_half));
    Value* finite = b_.CreateSelect(b_.CreateICmpULT(rest, word((127 - 14) << 23)), subnormal, normal);
    Value* infinite = b_.CreateICmpUGE(rest, word(0x477ff000));  // 65520, between the greatest f16 and 2^16
    Value* is_nan = b_.CreateICmpUGT(rest, word(f32_infinity));
    Value* value = b_.CreateSelect(is_nan, word(0x7e00), b_.CreateSelect(infinite, word(0x7c00), finite));
    return b_.CreateBitCast(b_.CreateTrunc(b_.CreateOr(value, sign), shorts_), halves_);
  }

 private:
  llvm::Constant* word(std::uint32_t value) const { return llvm::ConstantInt::get(words_, value); }

  llvm::IRBuilder<> b_;
  llvm::Type *words_, *floats_, *shorts_, *halves_;
};

bool is_half(const llvm::Type* t) { return t->getScalarType()->isHalfTy(); }

}  // namespace

void expand_half_conversions(llvm::Function& f) {
  std::vector<llvm::CastInst*> casts;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* c = llvm::dyn_cast<llvm::FPExtInst>(&i); c != nullptr && is_half(c->getSrcTy()))
      casts.push_back(c);
    else if (auto* t = llvm::dyn_cast<llvm::FPTruncInst>(&i); t != nullptr && is_half(t->getDestTy()))
      casts.push_back(t);
  for (llvm::CastInst* c : casts) {
    Expansion e(c);
    c->replaceAllUsesWith(is_half(c->getSrcTy()) ? e.to_f32(c->getOperand(0)) : e.to_half(c->getOperand(0)));
    c->eraseFromParent();
  }
}

}  // namespace kiln::compiler
