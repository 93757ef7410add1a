// exp(x) = 2^n exp(r) with r = x - n ln 2 in two steps and |r| <= ln(2)/2. exp2(x) = 2^n 2^d with d = x - n, which is exact.
// exp(r) and 2^d are polynomials in Horner's form, whose last step 1 + r(...) hardly adds to the error. They are minimax fits
// in 40-digit arithmetic (relative errors: f32 3e-9, f64 4e-18). SCALE rounds subnormal results once.
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

constexpr double exp_single[] = {1, 1, 0x1.fffffcp-2, 0x1.555490p-3, 0x1.5558a0p-5, 0x1.123ad0p-7, 0x1.6a6036p-10};
constexpr double exp_double[] = {1,
                                 1,
                                 0x1.000000000000ap-1,
                                 0x1.5555555555500p-3,
                                 0x1.555555555067cp-5,
                                 0x1.11111111263a9p-7,
                                 0x1.6c16c1848d00dp-10,
                                 0x1.a01a01326fab7p-13,
                                 0x1.a019991479775p-16,
                                 0x1.71df1347815edp-19,
                                 0x1.28ae4c2da5846p-22,
                                 0x1.ad9c2bb98d665p-26};
constexpr double exp2_single[] = {
    1, 0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6af7ap-5, 0x1.3b2dd4p-7, 0x1.5f094ap-10, 0x1.417856p-13};
constexpr double exp2_double[] = {1,
                                  0x1.62e42fefa39efp-1,
                                  0x1.ebfbdff82c59cp-3,
                                  0x1.c6b08d704a0d3p-5,
                                  0x1.3b2ab6fba11f3p-7,
                                  0x1.5d87fe78b3f66p-10,
                                  0x1.4309130c01a57p-13,
                                  0x1.ffcbfbf7921eep-17,
                                  0x1.62bfcddd308acp-20,
                                  0x1.b526102c2ac3bp-24,
                                  0x1.e611a248a0be8p-28,
                                  0x1.e80b147f7407cp-32};

Value mantissa(Value r) { return r.dtype() == DType::f32 ? polynomial(r, exp_single) : polynomial(r, exp_double); }

// Clamps x to [low, high]. Outside of it exp is 0 or infinity, and SCALE gives that for the limits too. NaN stays NaN.
Value clamped(Value x, double low, double high) {
  const Value a = where(x < real(x, low), real(x, low), x);
  return where(a > real(x, high), real(x, high), a);
}

// ln 2 = high + low. The product of high and an n of the range of results is exact.
struct Ln2 {
  double high, low;
};
Ln2 parts_of_ln2(Value like) {
  return like.dtype() == DType::f32 ? Ln2{0x1.62e4p-1, 0x1.7f7d1cp-20} : Ln2{0x1.62e42fefa0000p-1, 0x1.cf79abc9e3b39p-40};
}

}  // namespace

ReducedExponent reduce_exp(Value x) {
  const auto [high, low] = parts_of_ln2(x);
  const Value n = round(x * real(x, 1.4426950408889634));
  return {fma(n, real(x, -low), fma(n, real(x, -high), x)), n};
}

Value exp_slope(Value r) {
  return r.dtype() == DType::f32 ? polynomial(r, std::span(exp_single).subspan(1))
                                 : polynomial(r, std::span(exp_double).subspan(1));
}

Value half_exp(Value x) {
  const auto [r, n] = reduce_exp(clamped(x, -746, 712));
  return scale(mantissa(r), n - real(x, 1));
}

Value expand_exp(Value x) {
  const bool single = x.dtype() == DType::f32;
  const auto [r, n] = reduce_exp(clamped(x, single ? -104 : -746, single ? 89 : 710));
  return scale(mantissa(r), n);
}

Value exp_scaled(Value r, Value low, Value n) {
  const auto c = taylor(13);
  const Value q = polynomial(r, std::span(c).subspan(2));
  return scale(real(r, 1) + (r + fma(r * r, q, low)), n);
}

Value exp2_for_single(Value x) {
  const Value n = round(x);
  return polynomial((x - n) * real(x, 0x1.62e42fefa39efp-1), taylor(8)) * power_of_two(n);
}

Value exp_of_fma(Value a, Value b, Value c) {
  const auto [high, low] = parts_of_ln2(c);
  const Value n = round(fma(a, b, c) * real(c, 1.4426950408889634));
  const Value r = fma(n, real(c, -low), fma(a, b, fma(n, real(c, -high), c)));
  return mantissa(r) * power_of_two(n);
}

Value exp_plus_one(Value x) {
  const auto [r, n] = reduce_exp(x);
  const Value power = power_of_two(n);
  return fma(power * r, exp_slope(r), power + real(x, 1));
}

Value expand_expm1(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value c = clamped(x, single ? -18 : -39, single ? 89 : 710);  // below this the result rounds to -1
  const Value n = round(c * real(x, 1.4426950408889634));
  const auto [high, low] = parts_of_ln2(x);
  const Pair r = two_sum(fma(n, real(x, -high), c), n * real(x, -low));
  // exp(r) - 1 = r + r^2/2 + r^3/2 (1/3 + r/12 + ...)
  std::vector<double> series;
  const auto t = taylor(single ? 8 : 14);
  for (std::size_t i = 3; i < t.size(); ++i) series.push_back(2 * t[i]);
  const Pair half_square = two_product(r.high, r.high * real(x, 0.5));
  const Value rest = fma(half_square.high * r.high, polynomial(r.high, series), half_square.low);
  const Pair e = fast_two_sum(r.high, half_square.high);
  const Value correction = e.low + (rest + fma(r.low, r.high, r.low));
  // power_of_two has no 2^128 and no 2^1024, so the last factor is apart. Its 2^-127 and 2^-1023 are 0.
  const Value last = real(x, format(x.dtype()).bias);
  const Value m = where(n > last, last, n);
  const Pair one = two_sum(real(x, 1), -power_of_two(-m));
  const Pair sum = two_sum(one.high, e.high);
  const Value y = (sum.high + (sum.low + (one.low + correction))) * power_of_two(m) * where(n > last, real(x, 2), real(x, 1));
  return where(abs(x) > real(x, 0), y, x);  // keeps -0 and NaN
}

Value expand_exp2(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value c = clamped(x, single ? -151 : -1076, single ? 129 : 1025);
  const Value n = round(c);
  const Value d = c - n;
  return scale(single ? polynomial(d, exp2_single) : polynomial(d, exp2_double), n);
}

// The first product is exact: a value near 1 times a normal power. So the result rounds once, also a subnormal one.
Value expand_scale(Value x, Value n) {
  const Value half = floor(n * real(n, 0.5));
  return x * power_of_two(half) * power_of_two(n - half);
}

}  // namespace kiln::compiler
