// exp(x) = 2^n * exp(r), r = x - n ln 2 in two steps, |r| <= ln(2)/2; Taylor series of exp; scaling in two factors, so that
// subnormal results round once. exp2 the same with r = (x - n) ln 2.
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

std::vector<double> taylor(int degree) {
  std::vector<double> c = {1};
  for (int i = 1; i <= degree; ++i) c.push_back(c.back() / i);
  return c;
}

// exp(r) = 1 + r + r^2 q: the tail is small, so its rounding hardly counts.
Value mantissa(Value r) {
  const auto c = taylor(r.dtype() == DType::f32 ? 7 : 13);
  const Value q = polynomial(r, std::span(c).subspan(2));
  return fma(r * r, q, r) + real(r, 1);
}

// exp(r) * 2^n with n already clamped to where both factors are normal.
Value scaled(Value r, Value n) {
  const Value half = floor(n * real(n, 0.5));
  return mantissa(r) * power_of_two(half) * power_of_two(n - half);
}

Value limits(Value x, Value result, double low, double high) {
  const Value inf = real(x, std::numeric_limits<double>::infinity());
  Value y = where(x > real(x, high), inf, result);
  y = where(x < real(x, low), real(x, 0), y);
  return where(x != x, x, y);
}

Value clamped(Value x, double low, double high) {
  const Value a = where(x < real(x, low), real(x, low), x);
  const Value b = where(a > real(x, high), real(x, high), a);
  return where(x != x, real(x, 0), b);
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
  const double low = single ? -104 : -746, high = single ? 0x1.62e42ep+6 : 0x1.62e42fefa39efp+9;
  const auto [r, n] = reduce(clamped(x, low, high));
  return limits(x, scaled(r, n), low, high);
}

Value exp_scaled(Value r, Value low, Value n) {
  const auto c = taylor(13);
  const Value q = polynomial(r, std::span(c).subspan(2));
  const Value half = floor(n * real(n, 0.5));
  return (real(r, 1) + (r + fma(r * r, q, low))) * power_of_two(half) * power_of_two(n - half);
}

Value expand_exp_in_range(Value x) {
  const auto [r, n] = reduce(x);
  return mantissa(r) * power_of_two(n);
}

Value expand_exp2(Value x) {
  const bool single = x.dtype() == DType::f32;
  const double low = single ? -151 : -1076, high = single ? 0x1.fffffep+6 : 0x1.fffffffffffffp+9;
  const Value c = clamped(x, low, high);
  const Value n = round(c);
  const Value d = c - n;
  // d ln 2 with the constant in two parts
  const double hi = single ? 0x1.62e430p-1 : 0x1.62e42fefa39efp-1, lo = single ? -0x1.05c610p-29 : 0x1.abc9e3b39803fp-56;
  const Value r = fma(d, real(x, hi), d * real(x, lo));
  return limits(x, scaled(r, n), low, high);
}

}  // namespace kiln::compiler
