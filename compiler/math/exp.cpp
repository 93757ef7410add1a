// exp(x) = 2^n * exp(r) with r = x - n ln 2 in two steps and |r| <= ln(2)/2. exp(r) is a Taylor series. SCALE rounds subnormal
// results once. exp2 does the same with r = (x - n) ln 2.
//
// expm1(x) = 2^n ((exp(r) - 1) + (1 - 2^-n)), as in s_expm1.c of FreeBSD's msun (Ng, Sun Microsystems 1993). exp(r) - 1 and the
// sum are pairs of values, because their terms may cancel.
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

Value expand_expm1(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value c = clamped(x, single ? -18 : -39, single ? 89 : 710);  // below this the result rounds to -1
  const Value n = round(c * real(x, 1.4426950408889634));
  const Value top = fma(n, real(x, single ? -0x1.62e4p-1 : -0x1.62e42fefa0000p-1), c);
  const Pair r = two_sum(top, n * real(x, single ? -0x1.7f7d1cp-20 : -0x1.cf79abc9e3b39p-40));
  // exp(r) - 1 = r + r^2/2 + r^3/2 (1/3 + r/12 + ...)
  std::vector<double> series;
  const auto t = taylor(single ? 8 : 14);
  for (std::size_t i = 3; i < t.size(); ++i) series.push_back(2 * t[i]);
  const Pair half_square = two_product(r.high, r.high * real(x, 0.5));
  const Value rest = fma(half_square.high * r.high, polynomial(r.high, series), half_square.low);
  const Pair e = fast_two_sum(r.high, half_square.high);
  const Value low = e.low + (rest + fma(r.low, r.high, r.low));
  // power_of_two has no 2^128 and no 2^1024, so the last factor is apart. Its 2^-127 and 2^-1023 are 0.
  const Value last = real(x, format(x.dtype()).bias);
  const Value m = where(n > last, last, n);
  const Pair one = two_sum(real(x, 1), -power_of_two(-m));
  const Pair sum = two_sum(one.high, e.high);
  const Value y = (sum.high + (sum.low + (one.low + low))) * power_of_two(m) * where(n > last, real(x, 2), real(x, 1));
  return where(abs(x) > real(x, 0), y, x);  // keeps -0 and NaN
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
