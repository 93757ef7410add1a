#include "compiler/codegen/cast.h"

#include <cmath>

#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/packed_cast.h"

namespace kiln::compiler {
namespace {

llvm::Type* like(llvm::Value* v, DType d) { return register_type(v->getContext(), d, lane_count(v)); }

llvm::Value* bf16_to_f32(LlvmBuilder& b, llvm::Value* v) {
  llvm::Value* wide = b.CreateZExt(v, like(v, DType::u32));
  return b.CreateBitCast(b.CreateShl(wide, int_like(wide->getType(), 16)), like(v, DType::f32));
}

// Rounds the bits to nearest, ties to even. NaNs stay NaNs.
llvm::Value* f32_to_bf16(LlvmBuilder& b, llvm::Value* v) {
  llvm::Value* x = b.CreateBitCast(v, like(v, DType::u32));
  llvm::Type* t = x->getType();
  llvm::Value* top = b.CreateLShr(x, int_like(t, 16));
  llvm::Value* bias = b.CreateAdd(b.CreateAnd(top, int_like(t, 1)), int_like(t, 0x7fff));
  llvm::Value* rounded = b.CreateLShr(b.CreateAdd(x, bias), int_like(t, 16));
  llvm::Value* quiet = b.CreateOr(top, int_like(t, 0x40));
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(v, v), quiet, rounded), like(v, DType::u16));
}

// Rounds f64 to f32 to odd: an inexact result becomes its odd neighbour. A second rounding, to 11 or 8 bits, then gives the
// same result as one rounding from f64.
llvm::Value* f64_to_f32_odd(LlvmBuilder& b, llvm::Value* v) {
  llvm::Value* nearest = b.CreateFPTrunc(v, like(v, DType::f32));
  llvm::Value* back = b.CreateFPExt(nearest, v->getType());
  llvm::Value* inexact = b.CreateFCmpUNE(back, v);
  llvm::Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
  llvm::Value* away = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back), size);
  llvm::Value* x = b.CreateBitCast(nearest, like(v, DType::i32));
  llvm::Value* toward_zero = b.CreateAdd(x, b.CreateSExt(away, x->getType()));
  llvm::Value* odd = b.CreateOr(toward_zero, int_like(x->getType(), 1));
  return b.CreateBitCast(b.CreateSelect(inexact, odd, x), nearest->getType());
}

llvm::Value* float_to_float(LlvmBuilder& b, llvm::Value* v, DType from, DType to) {
  if (is_narrow_float(to)) {
    llvm::Value* f32 = from == DType::f64 ? f64_to_f32_odd(b, v) : widen(b, v, from);
    return narrow(b, f32, to);
  }
  llvm::Value* wide = widen(b, v, from);
  const DType source = is_narrow_float(from) ? DType::f32 : from;
  if (source == to) return wide;
  return to == DType::f64 ? b.CreateFPExt(wide, like(v, to)) : b.CreateFPTrunc(wide, like(v, to));
}

// The conversion to integers for vectors: rounds toward zero, saturates, and converts NaN to 0. LLVM 19 converts lanes one
// by one for fptosi.sat. So this function replaces the values that fptosi does not define, and then uses fptosi.
llvm::Value* saturated(LlvmBuilder& b, llvm::Value* v, DType to) {
  const int width = bits(to);
  if (width < 32 && v->getType()->getScalarType()->isFloatTy())
    if (llvm::Value* packed = packed_cast(b, v, to)) return packed;
  const double end = std::ldexp(1.0, is_signed(to) ? width - 1 : width), begin = is_signed(to) ? -end : 0.0;
  const auto constant = [&](double c) { return llvm::ConstantFP::get(v->getType(), c); };
  if (width < 32) {  // both bounds are values of every float type
    llvm::Value *first = constant(begin), *last = constant(end - 1);
    llvm::Value* number = b.CreateSelect(b.CreateFCmpORD(v, v), v, constant(0));
    llvm::Value* above = b.CreateSelect(b.CreateFCmpOGT(number, first), number, first);
    llvm::Value* inside = b.CreateSelect(b.CreateFCmpOLT(above, last), above, last);
    return b.CreateTrunc(b.CreateFPToSI(inside, like(v, DType::i32)), like(v, to));
  }
  llvm::Type* type = like(v, to);
  llvm::Value *below = b.CreateFCmpOLT(v, constant(begin)), *beyond = b.CreateFCmpOGE(v, constant(end));
  llvm::Value *reached = b.CreateFCmpOGE(v, constant(begin)), *before = b.CreateFCmpOLT(v, constant(end));
  llvm::Value* is_inside = b.CreateAnd(reached, before);
  llvm::Value* inside = b.CreateSelect(is_inside, v, constant(0));
  llvm::Value* whole = is_signed(to) ? b.CreateFPToSI(inside, type) : b.CreateFPToUI(inside, type);
  const auto bits_of = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(type, value); };
  const auto n = static_cast<unsigned>(width);
  const llvm::APInt least = is_signed(to) ? llvm::APInt::getSignedMinValue(n) : llvm::APInt::getMinValue(n);
  const llvm::APInt most = is_signed(to) ? llvm::APInt::getSignedMaxValue(n) : llvm::APInt::getMaxValue(n);
  return b.CreateSelect(beyond, bits_of(most), b.CreateSelect(below, bits_of(least), whole));
}

llvm::Value* float_to_int(LlvmBuilder& b, llvm::Value* v, DType from, DType to) {
  llvm::Value* wide = widen(b, v, from);
  if (to == DType::boolean) return b.CreateFCmpUNE(wide, llvm::Constant::getNullValue(wide->getType()));
  if (lane_count(v) > 1) return saturated(b, wide, to);
  llvm::Type* type = like(v, to);
  const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {type, wide->getType()}, {wide});
}

// Rounds once. For f16 the conversion uses f32: f32 is exact up to 2^24, and greater integers are infinite in f16. For bf16,
// which has the range of f32, it uses f64: exact up to 32 bits; 64-bit integers are first rounded to odd with a sticky bit.
llvm::Value* int_to_float(LlvmBuilder& b, llvm::Value* v, DType from, DType to) {
  const bool is_signed_source = is_signed(from);
  const auto convert = [&](llvm::Value* x, DType d) {
    return is_signed_source ? b.CreateSIToFP(x, like(v, d)) : b.CreateUIToFP(x, like(v, d));
  };
  if (to == DType::f16) return narrow(b, convert(v, DType::f32), to);
  if (to != DType::bf16) return convert(v, to);
  if (bits(from) < 32) return narrow(b, convert(v, DType::f32), to);
  if (bits(from) == 64) {
    // If |v| >= 2^40, the low 16 bits matter only by being zero or not. One bit that fits f64 replaces them.
    llvm::Type* t = v->getType();
    llvm::Value* low = b.CreateAnd(v, int_like(t, 0xffff));
    llvm::Value* sticky = b.CreateSelect(b.CreateICmpNE(low, int_like(t, 0)), int_like(t, 0x8000), int_like(t, 0));
    llvm::Value* folded = b.CreateOr(b.CreateXor(v, low), sticky);
    llvm::Value* magnitude = is_signed_source ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b.getFalse()) : v;
    v = b.CreateSelect(b.CreateICmpUGE(magnitude, int_like(t, std::int64_t{1} << 40)), folded, v);
  }
  return narrow(b, f64_to_f32_odd(b, convert(v, DType::f64)), to);
}

llvm::Value* int_to_int(LlvmBuilder& b, llvm::Value* v, DType from, DType to) {
  if (to == DType::boolean) return b.CreateICmpNE(v, int_like(v->getType(), 0));
  llvm::Type* type = like(v, to);
  return is_signed(from) ? b.CreateSExtOrTrunc(v, type) : b.CreateZExtOrTrunc(v, type);
}

}  // namespace

// An f16 is a 16-bit integer like bf16. It is a half only in conversions, and a fence separates each conversion from other
// code. Without fences, LLVM moves comparisons and selects to halves and makes calls of fminf and fmaxf. LLVM 19 also treats
// the conversion of an integer with few digits as exact, even beyond 65504.
llvm::Value* widen(LlvmBuilder& b, llvm::Value* v, DType d) {
  if (d == DType::bf16) return bf16_to_f32(b, v);
  if (d != DType::f16) return v;
  llvm::Type* f32 = like(v, DType::f32);
  return b.CreateArithmeticFence(b.CreateFPExt(b.CreateBitCast(v, with_lanes(b.getHalfTy(), lane_count(v))), f32), f32);
}

llvm::Value* narrow(LlvmBuilder& b, llvm::Value* v, DType d) {
  if (d == DType::bf16) return f32_to_bf16(b, v);
  if (d != DType::f16) return v;
  llvm::Value* f32 = b.CreateArithmeticFence(v, v->getType());
  return b.CreateBitCast(b.CreateFPTrunc(f32, with_lanes(b.getHalfTy(), lane_count(v))), like(v, DType::f16));
}

llvm::Value* emit_cast(LlvmBuilder& b, llvm::Value* v, DType from, DType to) {
  if (from == to) return v;
  if (is_float(from)) return is_float(to) ? float_to_float(b, v, from, to) : float_to_int(b, v, from, to);
  return is_float(to) ? int_to_float(b, v, from, to) : int_to_int(b, v, from, to);
}

llvm::Value* emit_bitcast(LlvmBuilder& b, llvm::Value* v, DType from, DType to) {
  if (from == to) return v;
  if (from == DType::boolean) v = b.CreateZExt(v, like(v, DType::u8));
  if (to == DType::boolean) return b.CreateICmpNE(v, int_like(v->getType(), 0));
  return b.CreateBitCast(v, like(v, to));
}

}  // namespace kiln::compiler
