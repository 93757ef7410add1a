#include "compiler/codegen/elementwise.h"

#include <stdexcept>
#include <string>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/cast.h"
#include "compiler/codegen/division.h"
#include "compiler/codegen/dot2.h"
#include "compiler/codegen/extremum.h"
#include "compiler/codegen/reciprocal_division.h"
#include "compiler/codegen/scale.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

[[noreturn]] void unsupported(Op op, DType d) {
  throw std::logic_error("codegen: " + std::string(name(op)) + " is not defined on " + std::string(name(d)));
}

Value* zero(Value* like) { return llvm::Constant::getNullValue(like->getType()); }

// Changes the sign bit of f16 and bf16 values without arithmetic, which would round values and quiet NaNs.
Value* narrow_sign(LlvmBuilder& b, Op op, Value* x, DType d) {
  Value* u = emit_bitcast(b, x, d, DType::u16);
  u = op == Op::NEG ? b.CreateXor(u, int_like(u->getType(), 0x8000)) : b.CreateAnd(u, int_like(u->getType(), 0x7fff));
  return emit_bitcast(b, u, DType::u16, d);
}

Value* float_sign(LlvmBuilder& b, Value* x) {
  Value* one = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(x->getType(), 1.0), x);
  return b.CreateSelect(b.CreateFCmpUEQ(x, zero(x)), x, one);  // NaN and both zeros stay
}

Value* float_unary(LlvmBuilder& b, Op op, Value* x, DType d) {
  switch (op) {
    case Op::NEG: return b.CreateFNeg(x);
    case Op::ABS: return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case Op::SIGN: return float_sign(b, x);
    case Op::SQRT: return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Op::FLOOR: return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case Op::CEIL: return b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case Op::ROUND: return b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
    case Op::TRUNC: return b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
    default: unsupported(op, d);
  }
}

Value* int_unary(LlvmBuilder& b, Op op, Value* x, DType d) {
  switch (op) {
    case Op::NEG: return b.CreateNeg(x);
    case Op::NOT: return b.CreateNot(x);
    case Op::ABS: return is_signed(d) ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
    case Op::POPCOUNT: return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
    case Op::CLZ: return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());  // defined for 0
    case Op::SIGN: {
      Value* positive = b.CreateZExt(is_signed(d) ? b.CreateICmpSGT(x, zero(x)) : b.CreateICmpNE(x, zero(x)), x->getType());
      return is_signed(d) ? b.CreateAdd(positive, b.CreateSExt(b.CreateICmpSLT(x, zero(x)), x->getType())) : positive;
    }
    case Op::FLOOR:
    case Op::CEIL:
    case Op::ROUND:
    case Op::TRUNC: return x;
    default: unsupported(op, d);
  }
}

Value* unary(LlvmBuilder& b, Op op, Value* x, DType d) {
  if (d == DType::boolean) return op == Op::NOT ? b.CreateNot(x) : (unsupported(op, d), nullptr);
  if (!is_float(d)) return int_unary(b, op, x, d);
  if (is_narrow_float(d) && (op == Op::NEG || op == Op::ABS)) return narrow_sign(b, op, x, d);
  return narrow(b, float_unary(b, op, widen(b, x, d), d), d);
}

Value* float_binary(LlvmBuilder& b, Op op, Value* x, Value* y, DType d) {
  switch (op) {
    case Op::ADD: return b.CreateFAdd(x, y);
    case Op::SUB: return b.CreateFSub(x, y);
    case Op::MUL: return b.CreateFMul(x, y);
    case Op::FDIV: {
      Value* quotient = emit_integer_quotient(b, x, y);
      return quotient != nullptr ? quotient : b.CreateFDiv(x, y);
    }
    case Op::SCALE: return emit_scale(b, x, y);
    case Op::MIN:
    case Op::MAX: return emit_extremum(b, op, x, y);
    default: unsupported(op, d);
  }
}

// Maps a float's bits to an integer with the same order, -0 below +0. Applied twice, it gives the bits back.
Value* order_key(LlvmBuilder& b, Value* bits) {
  Value* sign = b.CreateAShr(bits, int_like(bits->getType(), 15));
  return b.CreateXor(bits, b.CreateAnd(sign, int_like(bits->getType(), 0x7fff)));
}

// Computes on the bits as integers, because LLVM 19 lowers a minimum of halves wrongly (NaN against zero) or to a call of
// fmaxf.
Value* narrow_extremum(LlvmBuilder& b, Op op, Value* x, Value* y, DType d) {
  Value *ux = emit_bitcast(b, x, d, DType::u16), *uy = emit_bitcast(b, y, d, DType::u16);
  const auto which = op == Op::MIN ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
  Value* result = order_key(b, b.CreateBinaryIntrinsic(which, order_key(b, ux), order_key(b, uy)));
  Value* magnitude = int_like(ux->getType(), 0x7fff);
  Value *size_y = b.CreateAnd(uy, magnitude), *size_x = b.CreateAnd(ux, magnitude);
  Value* largest = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, size_x, size_y);
  Value* is_nan = b.CreateICmpUGT(largest, int_like(ux->getType(), d == DType::f16 ? 0x7c00 : 0x7f80));
  Value* nan = int_like(ux->getType(), d == DType::f16 ? 0x7e00 : 0x7fc0);
  return emit_bitcast(b, b.CreateSelect(is_nan, nan, result), DType::u16, d);
}

Value* shift(LlvmBuilder& b, Op op, Value* x, Value* y, DType d) {
  Value* count = b.CreateAnd(y, int_like(y->getType(), bits(d) - 1));
  if (op == Op::SHL) return b.CreateShl(x, count);
  return is_signed(d) ? b.CreateAShr(x, count) : b.CreateLShr(x, count);
}

Value* int_binary(LlvmBuilder& b, Op op, Value* x, Value* y, DType d) {
  switch (op) {
    case Op::ADD: return b.CreateAdd(x, y);
    case Op::SUB: return b.CreateSub(x, y);
    case Op::MUL: return b.CreateMul(x, y);
    case Op::CDIV:
    case Op::CMOD:
    case Op::FLOORDIV:
    case Op::FLOORMOD: return emit_division(b, op, d, x, y);
    case Op::MIN: return b.CreateBinaryIntrinsic(is_signed(d) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
    case Op::MAX: return b.CreateBinaryIntrinsic(is_signed(d) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
    case Op::AND: return b.CreateAnd(x, y);
    case Op::OR: return b.CreateOr(x, y);
    case Op::XOR: return b.CreateXor(x, y);
    case Op::SHL:
    case Op::SHR: return shift(b, op, x, y, d);
    case Op::DOT2: return emit_dot2(b, x, y);
    default: unsupported(op, d);
  }
}

Value* bool_binary(LlvmBuilder& b, Op op, Value* x, Value* y) {
  switch (op) {
    case Op::AND:
    case Op::MIN: return b.CreateAnd(x, y);
    case Op::OR:
    case Op::MAX: return b.CreateOr(x, y);
    case Op::XOR: return b.CreateXor(x, y);
    default: unsupported(op, DType::boolean);
  }
}

Value* compare(LlvmBuilder& b, Op op, Value* x, Value* y, DType d) {
  using P = llvm::CmpInst;
  const bool sign = is_signed(d);
  if (is_float(d)) {
    const auto p = op == Op::LT ? P::FCMP_OLT : op == Op::LE ? P::FCMP_OLE : op == Op::EQ ? P::FCMP_OEQ : P::FCMP_UNE;
    return b.CreateFCmp(p, widen(b, x, d), widen(b, y, d));
  }
  const auto p = op == Op::EQ   ? P::ICMP_EQ
                 : op == Op::NE ? P::ICMP_NE
                 : op == Op::LT ? (sign ? P::ICMP_SLT : P::ICMP_ULT)
                                : (sign ? P::ICMP_SLE : P::ICMP_ULE);
  return b.CreateICmp(p, x, y);
}

Value* binary(LlvmBuilder& b, Op op, Value* x, Value* y, DType d) {
  if (is_comparison(op)) return compare(b, op, x, y, d);
  if (d == DType::boolean) return bool_binary(b, op, x, y);
  if (!is_float(d)) return int_binary(b, op, x, y, d);
  if (is_narrow_float(d) && (op == Op::MIN || op == Op::MAX)) return narrow_extremum(b, op, x, y, d);
  return narrow(b, float_binary(b, op, widen(b, x, d), widen(b, y, d), d), d);
}

Value* fma(LlvmBuilder& b, std::span<Value* const> x, DType d) {
  if (is_integer(d)) return b.CreateAdd(b.CreateMul(x[0], x[1]), x[2]);
  if (!is_float(d)) unsupported(Op::FMA, d);
  Value* a = widen(b, x[0], d);
  return narrow(b, b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, widen(b, x[1], d), widen(b, x[2], d)}), d);
}

// A condition that all lanes of narrow values share stays a scalar: LLVM makes a mask of bytes lane by lane.
Value* condition_of(Value* condition, DType d) {
  Value* const shared = bytes(d) <= 2 ? llvm::getSplatValue(condition) : nullptr;
  return shared == nullptr ? condition : shared;
}

}  // namespace

Value* emit_elementwise(LlvmBuilder& b, const Graph& g, Id node, std::span<Value* const> x) {
  const Op op = g.op(node);
  const DType from = g.dtype(g.src(node, 0));
  switch (op) {
    case Op::CAST: return emit_cast(b, x[0], from, g.dtype(node));
    case Op::BITCAST: return emit_bitcast(b, x[0], from, g.dtype(node));
    case Op::WHERE: return b.CreateSelect(condition_of(x[0], g.dtype(node)), x[1], x[2]);
    case Op::FMA: return fma(b, x, from);
    default: return x.size() == 1 ? unary(b, op, x[0], from) : binary(b, op, x[0], x[1], from);
  }
}

namespace {

using Mask = llvm::SmallVector<int, 32>;

// The mask of result lanes that come from vector `i`; other lanes are poison.
Mask lanes_from(std::span<const std::int64_t> lanes, std::int64_t i, int width, int base) {
  Mask mask;
  for (const std::int64_t lane : lanes) {
    const bool mine = lane / width == i;
    mask.push_back(mine ? base + narrow<int>(lane % width) : llvm::PoisonMaskElem);
  }
  return mask;
}

// Merges one vector after the other into the result, because machines shuffle two vectors at a time.
Value* emit_shuffle(LlvmBuilder& b, std::span<const std::int64_t> lanes, std::span<Value* const> x) {
  const int width = lane_count(x[0]), n = count_of(lanes);
  if (n == 1) return b.CreateExtractElement(nth(x, lanes[0] / width), static_cast<std::uint64_t>(lanes[0] % width));
  Value* result = b.CreateShuffleVector(x[0], lanes_from(lanes, 0, width, 0));
  for (std::int64_t i = 1; i < std::ssize(x); ++i) {
    Value* next = nth(x, i);
    if (width != n) next = b.CreateShuffleVector(next, lanes_from(lanes, i, width, 0));
    Mask mask = lanes_from(lanes, i, width, n);
    for (int lane = 0; lane < n; ++lane) {
      int& from = nth(mask, lane);
      if (from != llvm::PoisonMaskElem && width != n) from = n + lane;
      if (nth(lanes, lane) / width < i) from = lane;
    }
    result = b.CreateShuffleVector(result, next, mask);
  }
  return result;
}

}  // namespace

Value* emit_lanes(LlvmBuilder& b, const Graph& g, Id node, std::span<Value* const> operands) {
  Value* x = operands[0];
  const auto lanes = static_cast<unsigned>(g.lanes(node));
  switch (g.op(node)) {
    case Op::BROADCAST: return lane_count(x) == 1 && lanes > 1 ? b.CreateVectorSplat(lanes, x) : x;
    case Op::RAMP: {
      llvm::SmallVector<llvm::Constant*, 16> steps;
      for (std::int64_t i = 0; i < g.lanes(node); ++i) steps.push_back(int_like(x->getType(), g.stride(node) * i));
      return b.CreateAdd(b.CreateVectorSplat(lanes, x), llvm::ConstantVector::get(steps));
    }
    case Op::LANE: return lane_count(x) == 1 ? x : b.CreateExtractElement(x, g.slot(node));
    case Op::SHUFFLE: return emit_shuffle(b, g.args(node), operands);
    case Op::PAIRS: return b.CreateBitCast(x, with_lanes(b.getInt32Ty(), g.lanes(node)));
    default: throw std::logic_error("codegen: not a lane operation");
  }
}

Value* emit_expression(LlvmBuilder& b, const Graph& g, Id expression, std::unordered_map<Id, Value*>& known) {
  for (const Id id : g.reachable(expression)) {
    if (known.contains(id)) continue;
    if (g.is_const(id)) {
      known[id] = b.getInt64(static_cast<std::uint64_t>(g.value(id)));
      continue;
    }
    const auto [left, right] = g.operands<2>(id);
    Value* const x[] = {known.at(left), known.at(right)};
    known[id] = emit_elementwise(b, g, id, x);
  }
  return known.at(expression);
}

}  // namespace kiln::compiler
