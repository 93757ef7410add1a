// pow(x, y) = 2^(y log2|x|). For f32 arguments the computation is in f64. For f64 arguments the logarithm and the product are
// pairs of f64 with about 100 bits. Special cases follow C99 Annex F.
#include <limits>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

Value select_specials(Value x, Value y, Value magnitude) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value one = real(x, 1), zero = real(x, 0), inf = real(x, infinity),
              nan = real(x, std::numeric_limits<double>::quiet_NaN());
  const Value ax = abs(x), ay = abs(y);
  const Value y_whole = trunc(y) == y;
  const Value half = y * real(y, 0.5);
  const Value y_odd = y_whole & (trunc(half) != half) & (ay < inf);
  const Value negative = bitcast(x, format(x.dtype()).integer) < integer(*x.g, format(x.dtype()).integer, 0);
  Value r = magnitude;
  r = where(ax == zero, where(y < zero, inf, zero), r);
  r = where(ax == inf, where(y < zero, zero, inf), r);
  // For an infinite exponent the result is 0, 1 or infinity, depending on whether |x| is below, equal to or above 1.
  const Value grows = (one < ax) == (zero < y);
  r = where(ay == inf, where(ax == one, one, where(grows, inf, zero)), r);
  r = where(negative & y_odd, -r, r);
  const Value fractional = trunc(y) != y;
  r = where((x < zero) & (ax < inf) & (ay < inf) & fractional, nan, r);
  r = where((x != x) | (y != y), nan, r);
  return where((y == zero) | (x == one), one, r);
}

Pair pair(Value like, double high, double low) { return {real(like, high), real(like, low)}; }

// log2 of |x| with an error of about 2^-68: log(1+f) = 2 atanh(s), s = f/(2+f). The first three terms of the series are pairs.
Pair log2_pair(Value ax) {
  const auto [k, f] = reduce_log(ax);
  const Pair d = fast_two_sum(real(f, 2), f);
  const Value s_high = f / d.high;
  const Pair s = {s_high, fma(-s_high, d.low, fma(-s_high, d.high, f)) / d.high};
  const Pair z = s * s;
  std::vector<double> tail;  // of the series 1/7 + z/9 + ...
  for (int i = 7; i <= 27; i += 2) tail.push_back(1.0 / i);
  const Value p = z.high * polynomial(z.high, tail);
  Pair sum = pair(f, 0x1.999999999999ap-3, -0x1.999999999999ap-57) + Pair{p, real(f, 0)};
  sum = pair(f, 0x1.5555555555555p-2, 0x1.5555555555555p-56) + z * sum;
  sum = pair(f, 1, 0) + z * sum;
  const Pair two_over_ln2 = pair(f, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55);
  return Pair{k, real(f, 0)} + s * sum * two_over_ln2;
}

// 2^(y l) for finite y. Beyond the limits the result is 0 or infinity, whatever the low part is.
Value exp2_product(Value y, Pair l) {
  const Value t = y * l.high;
  const Value low = fma(y, l.low, fma(y, l.high, -t));
  const Value top = real(y, 1100), zero = real(y, 0);
  const Value inside = abs(t) < top;
  const Value n_limit = where(t < zero, -top, top);
  const Value n = where(inside, round(t), n_limit);
  const Value d = where(inside, t - round(t), zero), d_low = where(inside, low, zero);
  const Pair p = two_product(d, real(y, 0x1.62e42fefa39efp-1));
  const Pair r = two_sum(p.high, fma(d_low, real(y, 0x1.62e42fefa39efp-1), fma(d, real(y, 0x1.abc9e3b39803fp-56), p.low)));
  return exp_scaled(r.high, r.low, n);
}

}  // namespace

Value expand_pow(Value x, Value y) {
  if (x.dtype() == DType::f64) return select_specials(x, y, exp2_product(y, log2_pair(abs(x))));
  const Value t = cast(y, DType::f64) * log2_for_single(cast(abs(x), DType::f64));
  const Value top = real(t, 200);  // beyond 2^200 and 2^-200 f32 has infinity and 0
  const Value low = where(t < -top, -top, t);
  return select_specials(x, y, cast(exp2_for_single(where(top < low, top, low)), DType::f32));
}

}  // namespace kiln::compiler
