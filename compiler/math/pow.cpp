// pow(x, y) = exp2(y log2|x|), in f64 for f32 arguments; special cases as C99 Annex F has them.
#include <limits>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

Value select_specials(Value x, Value y, Value magnitude) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value one = real(x, 1), zero = real(x, 0), inf = real(x, infinity), nan = real(x, std::numeric_limits<double>::quiet_NaN());
  const Value ax = abs(x), ay = abs(y);
  const Value y_whole = trunc(y) == y;
  const Value half = y * real(y, 0.5);
  const Value y_odd = y_whole & (trunc(half) != half) & (ay < inf);
  const Value negative = bitcast(x, format(x.dtype()).integer) < integer(*x.g, format(x.dtype()).integer, 0);
  Value r = magnitude;
  r = where(ax == zero, where(y < zero, inf, zero), r);
  r = where(ax == inf, where(y < zero, zero, inf), r);
  // An infinite exponent: 0, 1 or infinity by whether |x| is above or below 1.
  const Value grows = (one < ax) == (zero < y);
  r = where(ay == inf, where(ax == one, one, where(grows, inf, zero)), r);
  r = where(negative & y_odd, -r, r);
  const Value fractional = trunc(y) != y;
  r = where((x < zero) & (ax < inf) & (ay < inf) & fractional, nan, r);
  r = where((x != x) | (y != y), nan, r);
  return where((y == zero) | (x == one), one, r);
}

}  // namespace

Value expand_pow(Value x, Value y) {
  const Value wide_x = cast(abs(x), DType::f64), wide_y = cast(y, DType::f64);
  const Value magnitude = expand_exp2(wide_y * expand_log2(wide_x));
  return select_specials(x, y, cast(magnitude, x.dtype()));
}

}  // namespace kiln::compiler
