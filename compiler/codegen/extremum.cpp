#include "compiler/codegen/extremum.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/codegen/registers.h"
#include "compiler/codegen/target_machine.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

// x if x is before y in the order of the operation, else y: also if one is NaN, or if they are equal. One instruction on
// x86-64.
Value* first_of(LlvmBuilder& b, Op op, Value* x, Value* y) {
  return b.CreateSelect(op == Op::MIN ? b.CreateFCmpOLT(x, y) : b.CreateFCmpOGT(x, y), x, y);
}

// The extremum of x and a constant that is no NaN; nullptr: the constant needs the general form. first_of(limit, x) is wrong
// only for a zero of the other sign: -0 in place of max(-0, +0), which the addition of +0 corrects, or +0 in place of
// min(+0, -0).
Value* extremum_of_constant(LlvmBuilder& b, Op op, Value* x, Value* limit, const llvm::APFloat& c) {
  if (c.isNaN() || (op == Op::MIN && c.isNegZero())) return nullptr;
  Value* nearly = first_of(b, op, limit, x);
  return op == Op::MAX && c.isPosZero() ? b.CreateFAdd(nearly, limit) : nearly;
}

// In each bit the majority of s, t and a word in which all bits except the sign are 1: AND in the sign, OR elsewhere.
Value* magnitude_majority(LlvmBuilder& b, Value* s, Value* t) {
  llvm::Type* ints = s->getType();
  Value* magnitude = llvm::ConstantInt::get(ints, llvm::APInt::getSignedMaxValue(ints->getScalarSizeInBits()));
  const bool words = ints->getScalarSizeInBits() == 32;
  const auto which = words ? llvm::Intrinsic::x86_avx512_pternlog_d_512 : llvm::Intrinsic::x86_avx512_pternlog_q_512;
  return b.CreateIntrinsic(which, {}, {s, t, magnitude, b.getInt32(0xe8)});  // 0xe8: the table of the majority
}

llvm::Type* word_type(LlvmBuilder& b, llvm::Type* floats) {
  return floats->getWithNewType(b.getIntNTy(floats->getScalarSizeInBits()));
}

bool has_mask_merges(LlvmBuilder& b) { return vector_bits(*b.GetInsertBlock()->getParent()) >= 512; }

}  // namespace

// With the operands in both orders, first_of() differs only for zeros of different signs and for NaN. OR then gives the smaller
// zero, and keeps a NaN; AND gives the larger zero. In registers of 64 bytes, AND in the sign and OR elsewhere give the larger
// zero and keep a NaN, in one instruction.
Value* emit_extremum(LlvmBuilder& b, Op op, Value* x, Value* y) {
  const llvm::APFloat* c = nullptr;
  if (llvm::PatternMatch::match(x, llvm::PatternMatch::m_APFloat(c))) std::swap(x, y);
  if (llvm::PatternMatch::match(y, llvm::PatternMatch::m_APFloat(c)))
    if (Value* simple = extremum_of_constant(b, op, x, y, *c)) return simple;
  llvm::Type* type = x->getType();
  llvm::Type* ints = word_type(b, type);
  Value* one = b.CreateBitCast(first_of(b, op, x, y), ints);
  Value* other = b.CreateBitCast(first_of(b, op, y, x), ints);
  if (op == Op::MIN) return b.CreateBitCast(b.CreateOr(one, other), type);
  if (has_mask_merges(b) && type->getPrimitiveSizeInBits() >= 512)
    return b.CreateBitCast(in_registers(b, one, other, [&](Value* s, Value* t) { return magnitude_majority(b, s, t); }), type);
  Value* larger = b.CreateAnd(one, other);
  Value* is_nan = b.CreateFCmpUNO(x, y);
  return b.CreateBitCast(b.CreateSelect(is_nan, llvm::Constant::getAllOnesValue(ints), larger), type);
}

// first_of() keeps a NaN of y. If x is a NaN, a mask selects x; without masks OR sets all bits, which is a NaN too.
Value* emit_extremum_of_any_zero(LlvmBuilder& b, Op op, Value* x, Value* y, bool is_number) {
  Value* first = first_of(b, op, x, y);
  if (is_number) return first;
  if (has_mask_merges(b)) return b.CreateSelect(b.CreateFCmpORD(x, x), first, x);
  llvm::Type* ints = word_type(b, x->getType());
  Value* is_nan = b.CreateFCmpUNO(x, x);
  Value* bits = b.CreateSelect(is_nan, llvm::Constant::getAllOnesValue(ints), b.CreateBitCast(first, ints));
  return b.CreateBitCast(bits, x->getType());
}

}  // namespace kiln::compiler
