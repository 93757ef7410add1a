// With r = 1/d rounded to nearest and its error r2, q = x*r + x*r2 is within one unit in the last place of x/d. Then
// q + (x - q*d)*r, where x - q*d is exact, rounds to x/d (Markstein, IBM Journal of Research and Development 34, 1990). This
// holds while no term overflows or loses bits to a subnormal number, so vectors with elements outside of a range are divided.
// Zeros are inside of this range, although the sum of two zeros of different signs loses a negative sign: the result takes the
// sign bit of the quotient in any case.
#include "compiler/codegen/invariant_division.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <llvm/ADT/APFloat.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/emit_either.h"
#include "compiler/codegen/target_machine.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

constexpr unsigned most_tried_bits = 16;
constexpr int wide_bits = 512;
constexpr int with_fma = 256;          // bits of vectors: every CPU level with such vectors has fma
constexpr std::uint32_t often = 2000;  // how often all elements are inside of the range, for each time that one is outside

// The result has the bits of the quotient if |x| and |d| are both between 2^least and 2^most.
struct Exponents {
  int least, most;
};
Exponents exact_range(const llvm::Type* element) { return element->isFloatTy() ? Exponents{-60, 60} : Exponents{-400, 400}; }

// nullptr: d is not the same constant in all lanes.
const llvm::ConstantFP* constant_of(const Value* d) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(d);
  return constant == nullptr ? nullptr : llvm::dyn_cast_or_null<llvm::ConstantFP>(constant->getSplatValue());
}

// Whether d is a constant power of two. LLVM makes one multiplication of such a division.
bool has_exact_inverse(const Value* d) {
  const llvm::ConstantFP* constant = constant_of(d);
  return constant != nullptr && constant->getValueAPF().getExactInverse(nullptr);
}

// How many bits of an integer x was cast from; 0: from no integer, or from one of more than 32 bits, so that |x| is zero or is
// between 1 and 2^32.
unsigned integer_bits(const Value* x) {
  const auto* cast = llvm::dyn_cast<llvm::CastInst>(x);
  if (cast == nullptr) return 0;
  const bool is_integer = cast->getOpcode() == llvm::Instruction::UIToFP || cast->getOpcode() == llvm::Instruction::SIToFP;
  const unsigned bits = cast->getSrcTy()->getScalarSizeInBits();
  return is_integer && bits <= 32 ? bits : 0;
}

// x*r + x*r2, rounded twice. Most often it is the quotient for all small integers.
struct TwoProducts {
  double r, r2;
};

// nullopt: it is not the quotient for some integer of `bits` bits, or r is subnormal. A generator that was linked with
// -ffast-math flushes subnormal numbers to zero, so that it cannot compare them.
template <class T>
std::optional<TwoProducts> two_products(T d, unsigned bits) {
  const T r = 1 / d;
  if (!std::isnormal(r)) return std::nullopt;
  const T r2 = std::fma(-d, r, T{1}) * r;
  const auto differs = [&](T x) {
    const T product = std::fma(x, r, x * r2), quotient = x / d;
    return product != quotient || std::signbit(product) != std::signbit(quotient);
  };
  const std::int64_t end = std::int64_t{1} << bits;
  for (std::int64_t i = -end / 2; i < end; ++i)
    if (differs(static_cast<T>(i))) return std::nullopt;
  return TwoProducts{r, r2};
}

class InvariantDivision {
 public:
  InvariantDivision(LlvmBuilder& b, Value* x, Value* d)
      : b_(b),
        x_(x),
        d_(d),
        type_(x->getType()),
        element_(type_->getScalarType()),
        integers_(llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type_))) {}

  Value* emit() {
    const auto by_division = [&] { return b_.CreateFDiv(x_, d_); };
    const auto by_product = [&] { return product(); };
    Value* divisor = llvm::getSplatValue(d_);
    Value* out = divisor != nullptr ? outside(magnitude_of(divisor)) : b_.CreateOrReduce(outside(magnitude_of(d_)));
    if (integer_bits(x_) == 0) out = b_.CreateOr(some_x_outside(), out);
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(out);
    if (known != nullptr && known->isZero()) return product();
    return emit_either(b_, out, by_division, by_product, llvm::MDBuilder(b_.getContext()).createBranchWeights(1, often));
  }

 private:
  Value* some_x_outside() {
    Value* magnitude = magnitude_of(x_);
    Value* is_nonzero = b_.CreateICmpNE(magnitude, llvm::Constant::getNullValue(integers_));
    Value* is_outside = outside(magnitude);
    return b_.CreateOrReduce(b_.CreateAnd(is_nonzero, is_outside));
  }

  Value* product() {
    Value* one = llvm::ConstantFP::get(type_, 1.0);
    Value* r = b_.CreateFDiv(one, d_);
    Value* minus_d = b_.CreateFNeg(d_);
    Value* r2 = b_.CreateFMul(fma(minus_d, r, one), r);
    Value* q = fma(x_, r, b_.CreateFMul(x_, r2));
    Value* rest = fma(b_.CreateFNeg(q), d_, x_);
    Value* quotient = bits_of(fma(rest, r, q));
    Value *bits_of_x = bits_of(x_), *bits_of_d = bits_of(d_), *signs = b_.CreateXor(bits_of_x, bits_of_d);
    return b_.CreateBitCast(b_.CreateOr(quotient, b_.CreateAnd(signs, sign_bit())), type_);
  }

  Value* bits_of(Value* v) { return b_.CreateBitCast(v, integers_); }

  Value* sign_bit() const {
    return llvm::ConstantInt::get(integers_, llvm::APInt::getSignMask(element_->getScalarSizeInBits()));
  }

  Value* fma(Value* a, Value* b, Value* c) { return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c}); }

  // The bits of |v|. They grow with |v|.
  Value* magnitude_of(Value* v) {
    const unsigned bits = element_->getScalarSizeInBits();
    llvm::Type* integers = v->getType()->isVectorTy() ? integers_ : integers_->getScalarType();
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
  llvm::Type *type_, *element_, *integers_;
};

bool is_wide(const Graph& g, Id id) {
  return (g.dtype(id) == DType::f32 || g.dtype(id) == DType::f64) && g.lanes(id) * bytes(g.dtype(id)) >= wide_bits / 8;
}

}  // namespace

InvariantDivisions::InvariantDivisions(const Graph& g, const Scopes& scopes, int vector_bits)
    : g_(g), scopes_(scopes), has_wide_vectors_(vector_bits >= wide_bits), needs_divider_(scopes.loops.size(), false) {
  for (const Id id : scopes.nodes) {
    const std::int32_t scope = scopes.of[id];
    const bool is_division = g.op(id) == Op::FDIV && !g.is_const(g.src(id, 1)) && scopes.of[g.src(id, 1)] == scope;
    if ((is_division || g.op(id) == Op::SQRT) && is_wide(g, id)) needs_divider_[static_cast<std::size_t>(scope)] = true;
  }
}

bool InvariantDivisions::contains(Id division, std::int32_t scope) const {
  if (!has_wide_vectors_ || g_.op(division) != Op::FDIV || !is_wide(g_, division)) return false;
  return needs_divider_[static_cast<std::size_t>(scope)] && scopes_.of[g_.src(division, 1)] != scope && is_long(scope);
}

// Whether a loop may have more than a few iterations. A loop before or after whole vectors has one iteration. It has
// masked stores or, in a reduction, begins where another loop ends.
bool InvariantDivisions::is_long(std::int32_t scope) const {
  constexpr std::int64_t few = 4;
  if (scope == root_scope) return false;
  const ForParts f = for_parts(g_, nth(scopes_.loops, scope).loop);
  if (g_.is_const(f.begin) && g_.is_const(f.end)) return (g_.value(f.end) - g_.value(f.begin)) / f.step >= few;
  if (!f.effects.empty())
    return std::ranges::none_of(f.effects, [&](Id e) { return g_.op(e) == Op::STORE && g_.src(e).size() > 3; });
  return g_.is_const(f.begin);
}

Value* emit_integer_quotient(LlvmBuilder& b, Value* x, Value* d) {
  const unsigned bits = integer_bits(x);
  const llvm::ConstantFP* constant = constant_of(d);
  llvm::Type* type = x->getType();
  if (!type->isVectorTy() || vector_bits(*b.GetInsertBlock()->getParent()) < with_fma) return nullptr;
  if (bits == 0 || bits > most_tried_bits || constant == nullptr || has_exact_inverse(d)) return nullptr;
  const llvm::APFloat& v = constant->getValueAPF();
  const std::optional<TwoProducts> p =
      type->getScalarType()->isFloatTy() ? two_products(v.convertToFloat(), bits) : two_products(v.convertToDouble(), bits);
  if (!p) return nullptr;
  Value* small = b.CreateFMul(x, llvm::ConstantFP::get(type, p->r2));
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, llvm::ConstantFP::get(type, p->r), small});
}

Value* emit_invariant_division(LlvmBuilder& b, Value* x, Value* d) {
  if (has_exact_inverse(d)) return b.CreateFDiv(x, d);
  Value* quotient = emit_integer_quotient(b, x, d);
  return quotient != nullptr ? quotient : InvariantDivision(b, x, d).emit();
}

}  // namespace kiln::compiler
