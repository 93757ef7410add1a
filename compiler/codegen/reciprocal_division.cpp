// With r = 1/d rounded to nearest, q = x*r is at most two units in the last place from x/d, and q + (x - q*d)*r rounds to x/d
// (Markstein, IBM Journal of Research and Development 34, 1990). tests/run/reciprocal_proof_test.cpp proves it for f32. For f64
// q also has x times the error of r, so that it is one of the two numbers around x/d, for which that proof needs no test.
//
// This holds while no term overflows or loses bits to a subnormal number, so vectors with elements outside of a range are
// divided. A zero keeps its sign, since d is positive; q of f64 may lose it.
#include "compiler/codegen/reciprocal_division.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <llvm/ADT/APFloat.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/emit_either.h"
#include "compiler/codegen/target_machine.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

constexpr unsigned most_tried_bits = 16;
constexpr int wide_bits = 512;
constexpr int with_fma = 256;          // bits of vectors: every CPU level with such vectors has fma
constexpr std::uint32_t often = 2000;  // how often all elements are inside of the range, for each time that one is outside

// A range of numbers from 2^least to 2^most.
struct Exponents {
  int least, most;
};
// The product has the bits of the quotient x / d if |x| and d are in these ranges. Dividends may be small, as exp(x) often is.
Exponents dividends(const llvm::Type* element) { return element->isFloatTy() ? Exponents{-100, 100} : Exponents{-800, 800}; }
Exponents divisors(const llvm::Type* element) { return element->isFloatTy() ? Exponents{-24, 24} : Exponents{-200, 200}; }

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

class ReciprocalDivision {
 public:
  ReciprocalDivision(LlvmBuilder& b, Value* x, Value* d)
      : b_(b),
        x_(x),
        d_(d),
        type_(x->getType()),
        element_(type_->getScalarType()),
        integers_(llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type_))) {}

  Value* emit() {
    // In front of the branch, where several divisions share it.
    Value* divisor = llvm::getSplatValue(d_);
    Value* reciprocal = divisor != nullptr ? splat(inverse(divisor)) : inverse(d_);
    const auto by_division = [&] { return b_.CreateFDiv(x_, d_); };
    const auto by_product = [&] { return product(reciprocal); };
    Value* out = divisor != nullptr ? outside(bits_of(divisor), divisors(element_))
                                    : b_.CreateOrReduce(outside(bits_of(d_), divisors(element_)));
    if (integer_bits(x_) == 0) out = b_.CreateOr(some_x_outside(), out);
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(out)) return known->isZero() ? by_product() : by_division();
    return emit_either(b_, out, by_division, by_product, llvm::MDBuilder(b_.getContext()).createBranchWeights(1, often));
  }

 private:
  // Each |x| is one less as an integer, so that a zero is the greatest unsigned and the least signed number. Then the least and
  // the greatest element of several registers tell about all.
  Value* some_x_outside() {
    const unsigned bits = element_->getScalarSizeInBits();
    const auto [least, most] = dividends(element_);
    Value* magnitude = b_.CreateAnd(bits_of(x_), llvm::APInt::getSignedMaxValue(bits));
    Value* key = b_.CreateSub(magnitude, llvm::ConstantInt::get(integers_, 1));
    Value* small = of_one_register(llvm::Intrinsic::umin, key);
    Value* large = of_one_register(llvm::Intrinsic::smax, key);
    Value* too_small = b_.CreateICmpULT(small, llvm::ConstantInt::get(small->getType(), bits_of_power(least) - 1));
    Value* too_large = b_.CreateICmpSGT(large, llvm::ConstantInt::get(large->getType(), bits_of_power(most) - 1));
    return b_.CreateOrReduce(b_.CreateOr(too_small, too_large));
  }

  Value* of_one_register(llvm::Intrinsic::ID which, Value* v) {
    const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements());
    if (v->getType()->getPrimitiveSizeInBits() <= wide_bits) return v;
    std::vector<int> first(static_cast<std::size_t>(lanes) / 2);
    std::iota(first.begin(), first.end(), 0);
    std::vector<int> second = first;
    for (int& lane : second) lane += lanes / 2;
    Value *low = b_.CreateShuffleVector(v, first), *high = b_.CreateShuffleVector(v, second);
    return of_one_register(which, b_.CreateBinaryIntrinsic(which, low, high));
  }

  Value* product(Value* r) {
    Value* q = element_->isFloatTy() ? b_.CreateFMul(x_, r) : exact_product(r);
    Value* too_much = fma(q, d_, b_.CreateFNeg(x_));
    Value* quotient = fma(b_.CreateFNeg(too_much), r, q);
    return element_->isFloatTy() ? quotient : with_sign_of_x(quotient);
  }

  // x*r + x*r2. A zero may lose its sign.
  Value* exact_product(Value* r) {
    Value* r2 = b_.CreateFMul(fma(b_.CreateFNeg(d_), r, llvm::ConstantFP::get(type_, 1.0)), r);
    return fma(x_, r, b_.CreateFMul(x_, r2));
  }
  Value* with_sign_of_x(Value* quotient) {
    Value* sign = b_.CreateAnd(bits_of(x_), llvm::APInt::getSignMask(element_->getScalarSizeInBits()));
    return b_.CreateBitCast(b_.CreateOr(bits_of(quotient), sign), type_);
  }

  Value* inverse(Value* v) { return b_.CreateFDiv(llvm::ConstantFP::get(v->getType(), 1.0), v); }
  Value* splat(Value* scalar) {
    return b_.CreateVectorSplat(llvm::cast<llvm::FixedVectorType>(type_)->getNumElements(), scalar);
  }
  Value* bits_of(Value* v) { return b_.CreateBitCast(v, v->getType()->isVectorTy() ? integers_ : integers_->getScalarType()); }

  Value* fma(Value* a, Value* b, Value* c) { return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c}); }

  // Bits of positive numbers grow with the numbers. Negative numbers are outside.
  Value* outside(Value* bits, Exponents range) {
    const llvm::APInt low = bits_of_power(range.least), high = bits_of_power(range.most);
    Value* above = b_.CreateSub(bits, llvm::ConstantInt::get(bits->getType(), low));
    return b_.CreateICmpUGT(above, llvm::ConstantInt::get(bits->getType(), high - low));
  }

  llvm::APInt bits_of_power(int exponent) const {
    const llvm::APFloat one(element_->getFltSemantics(), 1);
    return llvm::scalbn(one, exponent, llvm::APFloat::rmNearestTiesToEven).bitcastToAPInt();
  }

  LlvmBuilder& b_;
  Value *x_, *d_;
  llvm::Type *type_, *element_, *integers_;
};

bool is_one(const Graph& g, Id id) {
  return g.op(id) == Op::CONST && float_value(g.dtype(id), static_cast<std::uint64_t>(g.value(id))) == 1;
}

std::int64_t registers(const Graph& g, Id id) { return g.lanes(id) * bytes(g.dtype(id)) * 8 / wide_bits; }

bool is_wide(const Graph& g, Id id) {
  return (g.dtype(id) == DType::f32 || g.dtype(id) == DType::f64) && g.lanes(id) * bytes(g.dtype(id)) >= wide_bits / 8;
}

}  // namespace

ReciprocalDivisions::ReciprocalDivisions(const Graph& g, const Scopes& scopes, int vector_bits)
    : g_(g), scopes_(scopes), has_wide_vectors_(vector_bits >= wide_bits), divides_several_(scopes.of.size(), false) {
  std::vector<bool> divides(scopes.of.size(), false);
  for (const Id id : scopes.nodes) {
    if (g.op(id) != Op::FDIV || !is_wide(g, id) || is_one(g, g.src(id, 0)) || scopes.of[id] != scopes.of[g.src(id, 1)])
      continue;
    const Id divisor = g.src(id, 1);
    if (divides[divisor]) divides_several_[divisor] = true;
    divides[divisor] = true;
  }
}

bool ReciprocalDivisions::contains(Id division, std::int32_t scope) const {
  if (!has_wide_vectors_ || g_.op(division) != Op::FDIV || !is_wide(g_, division)) return false;
  const auto [dividend, divisor] = g_.operands<2>(division);
  if (is_one(g_, dividend)) return false;
  return divides_several_[divisor] || (scopes_.of[divisor] != scope && is_long(scope, registers(g_, division)));
}

// Whether a loop may have more than a few registers of quotients, where an iteration has `registers`. A loop before or after
// whole vectors has one iteration. It has masked stores or, in a reduction, begins where another loop ends.
bool ReciprocalDivisions::is_long(std::int32_t scope, std::int64_t registers) const {
  constexpr std::int64_t few = 4;
  if (scope == root_scope) return false;
  const ForParts f = for_parts(g_, nth(scopes_.loops, scope).loop);
  if (g_.is_const(f.begin) && g_.is_const(f.end)) return (g_.value(f.end) - g_.value(f.begin)) / f.step * registers >= few;
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

Value* emit_reciprocal_division(LlvmBuilder& b, Value* x, Value* d) {
  if (has_exact_inverse(d)) return b.CreateFDiv(x, d);
  Value* quotient = emit_integer_quotient(b, x, d);
  return quotient != nullptr ? quotient : ReciprocalDivision(b, x, d).emit();
}

}  // namespace kiln::compiler
