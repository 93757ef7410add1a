// sin, cos, tan: x = n pi/2 + r with |r| <= pi/4, then polynomials in r^2 (Chebyshev fits in 50-digit arithmetic). For f32 the
// computation is in f64 with fewer terms: the first omitted term is below 2^-30.
#include <limits>

#include "compiler/math/angle.h"

namespace kiln::compiler {
namespace {

constexpr double sine[] = {-0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019938p-13, 0x1.71de3a5460946p-19,
                           -0x1.ae645412c3273p-26, 0x1.61217f09bcb03p-33, -0x1.ab17d2facc85cp-41};
constexpr double cosine[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d0ap-16, -0x1.27e4fb7712d5cp-22,
                             0x1.1eed8deb96ac2p-29, -0x1.9394ba0b4568ap-37, 0x1.ab785a14044e7p-45};
// Angles of f32 arguments have no low part.
std::span<const double> terms(const Angle& a, std::span<const double> c) { return a.low ? c : c.first(4); }
Value bit(Value n, int mask) { return (n & integer(n, mask)) != integer(n, 0); }

// Returns a value and a correction below its rounding.
Pair sin_pair(const Angle& a) {
  const Value r = a.r, z = r * r;
  // sin(r + low) = sin r + low cos r
  return fast_two_sum(r, a.low ? fma(r * z, polynomial(z, sine), fma(z * real(z, -0.5), *a.low, *a.low))
                               : r * z * polynomial(z, terms(a, sine)));
}
Pair cos_pair(const Angle& a) {
  const Value r = a.r, z = r * r;
  const Value h = z * real(z, 0.5), w = real(z, 1) - h;
  const Value lost = (real(z, 1) - w) - h;
  return fast_two_sum(w, fma(z * z, polynomial(z, terms(a, cosine)), a.low ? fma(-r, *a.low, lost) : lost));
}
Value sin_of(const Angle& a) { return sin_pair(a).high; }
Value cos_of(const Angle& a) { return cos_pair(a).high; }

// a / b, corrected by the remainder of the quotient and by the low parts.
Value quotient(Pair a, Pair b) {
  const Value q = a.high / b.high;
  const Value rest = fma(-q, b.high, a.high) + fma(-q, b.low, a.low);
  return q + rest / b.high;
}

Value finish(Value x, Value y) {
  const Value result = x.dtype() == DType::f32 ? cast(y, DType::f32) : y;
  const Value finite = abs(x) < real(x, std::numeric_limits<double>::infinity());
  return where(finite, result, real(x, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Value expand_sin(Value x) {
  const Angle a = reduce_angle(x);
  const Value y = where(bit(a.quadrant, 1), cos_of(a), sin_of(a));
  const Value s = where(bit(a.quadrant, 2), -y, y);
  const Value negative = x < real(x, 0);
  return where(x == real(x, 0), x, finish(x, where(negative, -s, s)));
}

Value expand_cos(Value x) {
  const Angle a = reduce_angle(x);
  const Value y = where(bit(a.quadrant, 1), sin_of(a), cos_of(a));
  const Value flip = bit(a.quadrant + integer(a.quadrant, 1), 2);
  return finish(x, where(flip, -y, y));
}

Value expand_tan(Value x) {
  const Angle a = reduce_angle(x);
  const Value odd = bit(a.quadrant, 1);
  const Pair s = sin_pair(a), c = cos_pair(a);
  const Pair top = {where(odd, -c.high, s.high), where(odd, -c.low, s.low)};
  const Pair bottom = {where(odd, s.high, c.high), where(odd, s.low, c.low)};
  const Value y = a.low ? quotient(top, bottom) : top.high / bottom.high;
  const Value negative = x < real(x, 0);
  return where(x == real(x, 0), x, finish(x, where(negative, -y, y)));
}

}  // namespace kiln::compiler
