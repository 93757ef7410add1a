// log(x): x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f), log(1 + f) = 2 atanh(s). The large terms k
// ln 2 and f are added last.
//
// log2(x) = k + log2(1 + f). For f32 log2(1 + f) = f + f p(f), a minimax fit in 40-digit arithmetic. The error of the last step
// is half a unit, and p is below 0.72. For f64 log(1 + f) is a sum of two parts, and so is log2(e). log10 does the same, and
// for f32 the computation is in f64.
//
// log1p(x): u = 1 + x is rounded, with the error c: log(1 + x) = log(u + c), about log(u) + c / u. If k is 0, f is x itself.
// The method is that of s_log1p.c in FreeBSD's msun (Ng, Sun Microsystems 1993), with the series above.
#include <limits>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {

namespace {

// b >> 52 as f64. Adding 1024 keeps the field positive before the conversion.
Value exponent_f64(Value b) {
  const Value field = shr(bitcast(b + integer(b, std::int64_t{1024} << 52), DType::u64), 52);
  const Value k = to_f64(field);
  return k - real(k, 1024);
}

}  // namespace

// Zero, negative, infinite and NaN arguments give meaningless values, which the caller replaces.
Logarithm reduce_log_normal(Value x) {
  const Format fmt = format(x.dtype());
  const bool single = x.dtype() == DType::f32;
  // Subtracts the bits of sqrt(1/2), so that the exponent field changes at sqrt(1/2) instead of 1.
  const std::int64_t root = single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  const Value b = bitcast(x, fmt.integer) - integer(*x.g, fmt.integer, root);
  const Value k = single ? cast(shr(b, fmt.mantissa), x.dtype()) : exponent_f64(b);
  const Value mantissa = b & integer(*x.g, fmt.integer, (std::int64_t{1} << fmt.mantissa) - 1);
  const Value m = bitcast(mantissa + integer(*x.g, fmt.integer, root), x.dtype());
  return {k, m - real(x, 1)};
}

// Subnormal arguments are scaled up first.
Logarithm reduce_log(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value tiny = x < real(x, single ? 0x1p-126 : 0x1p-1022);
  const auto [k, f] = reduce_log_normal(where(tiny, x * real(x, single ? 0x1p25 : 0x1p54), x));
  return {k - where(tiny, real(x, single ? 25 : 54), real(x, 0)), f};
}

namespace {

// log(1+f) = f - h + tail with h = f*f/2, tail = s (h + R), R = 2(s^2/3 + s^4/5 + ...).
struct Parts {
  Value h, tail;
};

Parts series(Value f) {
  const bool single = f.dtype() == DType::f32;
  const Value s = f / (f + real(f, 2));
  const Value z = s * s;
  std::vector<double> c;
  for (int i = 1; i <= (single ? 4 : 12); ++i) c.push_back(2.0 / (2 * i + 1));
  const Value h = f * f * real(f, 0.5);
  return {h, s * (h + z * polynomial(z, c))};
}

// y, or the special values of a logarithm that is -infinity at the pole.
Value specials(Value x, Value y, double pole) {
  const double inf = std::numeric_limits<double>::infinity();
  Value r = where(x < real(x, inf), y, x);  // keeps infinity and NaN
  r = where(x == real(x, pole), real(x, -inf), r);
  return where(x < real(x, pole), real(x, std::numeric_limits<double>::quiet_NaN()), r);
}

// k ln 2 + log(1+f).
Value sum_of(Logarithm r, Parts p) {
  const bool single = r.f.dtype() == DType::f32;
  const double hi = single ? 0x1.62e4p-1 : 0x1.62e42fefa0000p-1, lo = single ? 0x1.7f7d1cp-20 : 0x1.cf79abc9e3b39p-40;
  const Value small = fma(r.k, real(r.f, lo), p.tail) - p.h;
  return fma(r.k, real(r.f, hi), r.f + small);
}

}  // namespace

Value expand_log(Value x) {
  const Logarithm r = reduce_log(x);
  return specials(x, sum_of(r, series(r.f)), 0);
}

Value expand_log1p(Value x) {
  const Value zero = real(x, 0);
  const Pair u = two_sum(real(x, 1), x);
  Logarithm r = reduce_log_normal(u.high);
  const Value whole = r.k == zero;
  r.f = where(whole, x, r.f);
  Parts p = series(r.f);
  p.tail = p.tail + where(whole, zero, u.low / u.high);
  return where(x == zero, x, specials(x, sum_of(r, p), -1));  // keeps -0
}

Value log2_for_single(Value x) {
  const auto [k, f] = reduce_log_normal(x);
  const Value s = f / (f + real(f, 2));
  std::vector<double> c;  // of the series 2 atanh(s) / (s ln 2)
  for (int i = 0; i < 8; ++i) c.push_back(0x1.71547652b82fep+1 / (2 * i + 1));
  return fma(s, polynomial(s * s, c), k);
}

namespace {

// log2(1+f) / f - 1
constexpr double log2_single[] = {0x1.c551dap-2,  -0x1.715476p-1, 0x1.ec7030p-2,  -0x1.715722p-2, 0x1.2789dap-2,
                                  -0x1.eb550cp-3, 0x1.a2396cp-3,  -0x1.825af8p-3, 0x1.7eb42ap-3,  -0x1.d97d70p-4};

// k * whole + log(1+f) * factor. factor is a sum of two constants, and so is `whole`. Products of the high parts are exact.
struct Base {
  double whole, whole_low, factor, factor_low;
};
constexpr Base base_2 = {1, 0, 0x1.71547652p+0, 0x1.705fc2eefa200p-33},
               base_10 = {0x1.34413509f7000p-2, 0x1.3fde623e2566bp-43, 0x1.bcb7b15p-2, 0x1.37287195355bbp-33};

Value log_in_two_parts(Logarithm r, Base base) {
  const auto [h, tail] = series(r.f);
  // log(1+f) = high + low, where high has few bits. Both are multiplied by the factor.
  Graph& g = *r.f.g;
  const Value high = bitcast(bitcast(r.f - h, DType::i64) & integer(g, DType::i64, ~std::int64_t{0xffffffff}), DType::f64);
  const Value low = (r.f - high) - h + tail;
  const Value top = high * real(high, base.factor);
  const Value rest = fma(low + high, real(high, base.factor_low), low * real(high, base.factor));
  const Value whole = r.k * real(high, base.whole), sum = whole + top;
  const Value lost = (whole - sum) + top;
  return sum + (fma(r.k, real(high, base.whole_low), rest) + lost);
}

}  // namespace

Value expand_log2(Value x) {
  const Logarithm r = reduce_log(x);
  if (x.dtype() == DType::f64) return specials(x, log_in_two_parts(r, base_2), 0);
  return specials(x, r.k + fma(r.f, polynomial(r.f, log2_single), r.f), 0);
}

Value expand_log10(Value x) {
  if (x.dtype() == DType::f64) return specials(x, log_in_two_parts(reduce_log(x), base_10), 0);
  const Value wide = log2_for_single(cast(x, DType::f64));
  return specials(x, cast(wide * real(wide, 0x1.34413509f79ffp-2), DType::f32), 0);
}

}  // namespace kiln::compiler
