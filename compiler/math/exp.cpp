// exp(x) = 2^n * exp(r) with r = x - n ln 2 in two steps and |r| <= ln(2)/2. exp(r) is a Taylor series. SCALE rounds subnormal
// results once. exp2 does the same with r = (x - n) ln 2.
#include <span>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

std::vector<double> taylor(int degree) {
  std::vector<double> c = {1};
  for (int i = 1; i <= degree; ++i) c.push_back(c.back() / i);
  return c;
}

// exp(r) = 1 + r + r^2 q. The term r^2 q is small, so its rounding hardly counts.
Value mantissa(Value r) {
  const auto c = taylor(r.dtype() == DType::f32 ? 7 : 13);
  const Value q = polynomial(r, std::span(c).subspan(2));
  return fma(r * r, q, r) + real(r, 1);
}

// Clamps x to [low, high]. Outside of it exp is 0 or infinity, and SCALE gives that for the limits too. NaN stays NaN.
Value clamped(Value x, double low, double high) {
  const Value a = where(x < real(x, low), real(x, low), x);
  return where(a > real(x, high), real(x, high), a);
}

struct Reduced {
  Value r, n;
};

// x = n ln 2 + r
Reduced reduce(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value n = round(x * real(x, 1.4426950408889634));
  const Value r = fma(n, real(x, single ? -0x1.62e4p-1 : -0x1.62e42fefa0000p-1), x);
  return {fma(n, real(x, single ? -0x1.7f7d1cp-20 : -0x1.cf79abc9e3b39p-40), r), n};
}

}  // namespace

Value expand_exp(Value x) {
  const bool single = x.dtype() == DType::f32;
  const auto [r, n] = reduce(clamped(x, single ? -104 : -746, single ? 89 : 710));
  return scale(mantissa(r), n);
}

Value exp_scaled(Value r, Value low, Value n) {
  const auto c = taylor(13);
  const Value q = polynomial(r, std::span(c).subspan(2));
  return scale(real(r, 1) + (r + fma(r * r, q, low)), n);
}

Value exp_for_single(Value x) {
  const auto [r, n] = reduce(x);
  return polynomial(r, taylor(8)) * power_of_two(n);
}

Value exp2_for_single(Value x) {
  const Value n = round(x);
  return polynomial((x - n) * real(x, 0x1.62e42fefa39efp-1), taylor(8)) * power_of_two(n);
}

Value expand_exp_in_range(Value x) {
  const auto [r, n] = reduce(x);
  return mantissa(r) * power_of_two(n);
}

Value expand_exp2(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value c = clamped(x, single ? -151 : -1076, single ? 129 : 1025);
  const Value n = round(c);
  const Value d = c - n;
  // d * ln 2, where ln 2 is a sum of two constants.
  const double hi = single ? 0x1.62e430p-1 : 0x1.62e42fefa39efp-1, lo = single ? -0x1.05c610p-29 : 0x1.abc9e3b39803fp-56;
  const Value r = fma(d, real(x, hi), d * real(x, lo));
  return scale(mantissa(r), n);
}

// The first product is exact: a value near 1 times a normal power. So the result rounds once, also a subnormal one.
Value expand_scale(Value x, Value n) {
  const Value half = floor(n * real(n, 0.5));
  return x * power_of_two(half) * power_of_two(n - half);
}

}  // namespace kiln::compiler
