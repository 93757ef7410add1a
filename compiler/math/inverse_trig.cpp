// atan2(y, x): the angle of y / x is base + atan(t), t = (y - c x) / (x + c y), for one of five c, so that |t| < 0.44. c = 0,
// 1/2, 1, 3/2 and infinity, as in s_atan.c of FreeBSD's msun (Sun Microsystems 1993). atan(x) is that of the point (1, x).
//
// asin(s) is a series for s <= 1/2. For larger s, asin(s) = pi/2 - 2 asin(sqrt((1 - s) / 2)), and acos likewise.
//
// The series are minimax fits in 40-digit arithmetic (relative errors 4e-18 and 2e-17). For f32 the computation is in f64.
#include <limits>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

// (atan(t) / t - 1) / t^2 for |t| <= 7/16, in powers of t^2
constexpr double atan_series[] = {-0x1.555555555550cp-2, 0x1.999999998e9ecp-3, -0x1.2492491ffe762p-3, 0x1.c71c6fdee4ee5p-4,
                                  -0x1.745cdc01c82c3p-4, 0x1.3b0f25e104dedp-4, -0x1.10d636bee6b49p-4, 0x1.dde03c3a4451cp-5,
                                  -0x1.97aa3ed8ef80dp-5, 0x1.2b2c81b8bbcb6p-5, -0x1.0aa5133e399a9p-6};
// (asin(s) / s - 1) / s^2 for |s| <= 1/2, in powers of s^2
constexpr double asin_series[] = {0x1.5555555555384p-3, 0x1.333333336fdeep-4, 0x1.6db6db419c041p-5,  0x1.f1c72c7f656afp-6,
                                  0x1.6e89edc5d3315p-6, 0x1.1c6c418bc10ecp-6, 0x1.c6f67dffadbdap-7,  0x1.8ef1d2fdeb58bp-7,
                                  0x1.aa414a731899dp-8, 0x1.41007540a3ac8p-6, -0x1.0b70b305accf7p-6, 0x1.05f904de92b10p-5};

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Constant {
  double high, low;
};
constexpr Constant half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

Pair pair(Value like, Constant c) { return {real(like, c.high), real(like, c.low)}; }
Pair select(Value c, Pair a, Pair b) { return {where(c, a.high, b.high), where(c, a.low, b.low)}; }

// The angle of the point (x, y), in the first quadrant. f64; x and y are not both 0, and if y is finite, x is.
Value first_quadrant(Value y, Value x) {
  struct Sector {
    double begin, c;  // from y = begin * x on
    Constant base;
  };
  constexpr Sector sectors[] = {{0.4375, 0.5, {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}},
                                {0.6875, 1, {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}},
                                {1.1875, 1.5, {0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56}}};
  const Value zero = real(x, 0);
  Value c = zero;
  Pair base = {zero, zero};
  for (const Sector& s : sectors) {
    const Value beyond = real(x, s.begin) * x <= y;
    c = where(beyond, real(x, s.c), c);
    base = select(beyond, pair(x, s.base), base);
  }
  const Value last = real(x, 2.4375) * x <= y;
  base = select(last, pair(x, half_pi), base);
  const Value top = where(last, -x, fma(-c, x, y)), bottom = where(last, y, fma(c, y, x));
  const Value t = top / bottom, z = t * t;
  return base.high + (t + fma(t * z, polynomial(z, atan_series), base.low));
}

// s and low: the argument of the series and a correction below its rounding. rest: asin(s + low) - s.
struct Arc {
  Value large, s, rest;
};
Arc arc(Value x) {
  const Value a = abs(x), zero = real(x, 0), half = real(x, 0.5);
  const Value large = half <= a;
  const Value z = where(large, fma(-half, a, half), a * a);
  const Value s = where(large, sqrt(z), a);
  const Value twice = where(z == zero, real(x, 1), s + s);
  const Value low = where(large, fma(-s, s, z) / twice, zero);
  return {large, s, fma(s * z, polynomial(z, asin_series), low)};
}

// a + u + rest, where rest is small and a is 0 or not below |u|.
Value sum(Pair a, Value u, Value rest) {
  const Pair top = two_sum(a.high, u);
  return top.high + (top.low + (rest + a.low));
}

Value asin_double(Value x) {
  const Arc r = arc(x);
  const Value zero = real(x, 0), two = real(x, 2);
  const Value magnitude = where(r.large, sum(pair(x, half_pi), -(two * r.s), -(two * r.rest)), r.s + r.rest);
  return where(x == zero, x, copysign(magnitude, x));
}

Value acos_double(Value x) {
  const Arc r = arc(x);
  const Value zero = real(x, 0), negative = x < zero;
  const Value factor = where(r.large, real(x, 2), real(x, 1));
  const Value sign =
      where(r.large == negative, -factor, factor);  // -: pi - 2 asin(..) of x near -1, and pi/2 - asin(x) of x > 0
  const Pair near_ends = select(negative, pair(x, pi), Pair{zero, zero});
  return sum(select(r.large, near_ends, pair(x, half_pi)), sign * r.s, sign * r.rest);
}

Value atan2_double(Value y, Value x) {
  const Value zero = real(x, 0), one = real(x, 1), inf = real(x, infinity);
  Value ax = abs(x), ay = abs(y);
  // Powers of two keep sums finite and differences normal.
  const Value largest = where(ax < ay, ay, ax);
  const Value up = where(largest < real(x, 0x1p-900), real(x, 0x1p120), one);
  const Value factor = where(real(x, 0x1p1000) < largest, real(x, 0x1p-100), up);
  const Value unbounded = largest == inf;
  const auto scaled = [&](Value v) { return where(unbounded, where(v == inf, one, zero), v * factor); };
  ax = scaled(ax), ay = scaled(ay);
  const Value right = first_quadrant(ay, where(largest == zero, one, ax));
  const Value left = real(x, pi.high) - (right - real(x, pi.low));
  // The sign of a zero x counts only if y is a zero too.
  const Value negative = bitcast(x, DType::i64) < integer(*x.g, DType::i64, 0);
  const Value behind = negative & ((x != zero) | (y == zero));
  const Value angle = copysign(where(behind, left, right), y);
  return where((x != x) | (y != y), real(x, std::numeric_limits<double>::quiet_NaN()), angle);
}

}  // namespace

Value expand_asin(Value x) { return in_f64(x, asin_double); }
Value expand_acos(Value x) { return in_f64(x, acos_double); }

Value expand_atan(Value x) {
  return in_f64(x, [](Value v) { return copysign(first_quadrant(abs(v), real(v, 1)), v); });
}

Value expand_atan2(Value y, Value x) {
  if (x.dtype() == DType::f64) return atan2_double(y, x);
  const Value wide_y = cast(y, DType::f64), wide_x = cast(x, DType::f64);
  return cast(atan2_double(wide_y, wide_x), x.dtype());
}

}  // namespace kiln::compiler
