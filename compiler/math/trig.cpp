// sin, cos, tan: x = n pi/2 + r with |r| <= pi/4, then polynomials in r^2 (Chebyshev fits in 50-digit arithmetic). f32 computes in f64:
// up to 2^28 the reduction is two fused steps; above, x * 2/pi modulo 4 is taken in integers from a window of the bits of 2/pi
// (Payne and Hanek, 1983).
#include <limits>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

constexpr double sine[] = {-0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019938p-13, 0x1.71de3a5460946p-19,
                           -0x1.ae645412c3273p-26, 0x1.61217f09bcb03p-33, -0x1.ab17d2facc85cp-41};
constexpr double cosine[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d0ap-16, -0x1.27e4fb7712d5cp-22,
                             0x1.1eed8deb96ac2p-29, -0x1.9394ba0b4568ap-37, 0x1.ab785a14044e7p-45};
constexpr std::int64_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// Quadrant (i64, modulo 4 counts) and remainder (f64).
struct Angle {
  Value quadrant, r;
};

// n pi/2 leaves in three parts: enough while n is an exact f64 integer.
Angle reduce_fused(Value x) {
  const Value n = round(x * real(x, 0x1.45f306dc9c883p-1));
  Value r = fma(n, real(x, -0x1.921fb54442d18p+0), x);
  r = fma(n, real(x, -0x1.1a62633145c07p-54), r);
  r = fma(n, real(x, 0x1.f1976b7ed8fbcp-110), r);
  return {cast(n, DType::i64), r};
}

Value variable_shift(Op op, Value a, Value n) { return make(op, a.dtype(), {a, n}); }

// |x| = m 2^(e-150) >= 2^28. Bits of 2/pi of weight 4 and more do not matter, so the window starts at bit e - 152.
Angle reduce_window(Value x) {
  Graph& g = *x.g;
  const auto u64 = [&](std::int64_t v) { return integer(g, DType::u64, v); };
  const Value bits = cast(bitcast(abs(x), DType::u32), DType::u64);
  const Value e = shr(bits, 23);
  const Value m = (bits & u64(0x7fffff)) | u64(0x800000);
  const Value offset = e - u64(152);
  const Value word = shr(offset, 5), shift = offset & u64(31);
  const auto pick = [&](int k) {
    Value w = u64(two_over_pi[3 + k]);
    for (int i = 2; i >= 0; --i) w = where(word == u64(i), u64(two_over_pi[i + k]), w);
    return w;
  };
  const Value t[] = {pick(0), pick(1), pick(2), pick(3)};
  const auto window = [&](int k) { return shr(variable_shift(Op::SHL, shl(t[k], 32) | t[k + 1], shift), 32); };
  const Value y = shl(m * window(0), 32) + m * window(1) + shr(m * window(2), 32);  // x 2/pi modulo 4, times 2^62
  const Value n = shr(y + u64(std::int64_t{1} << 61), 62);
  const Value rest = bitcast(y - shl(n, 62), DType::i64);
  return {bitcast(n, DType::i64), cast(rest, DType::f64) * real(cast(x, DType::f64), 0x1.921fb54442d18p-62)};
}

// For |x|: the callers restore the sign.
Angle reduce(Value x) {
  if (x.dtype() == DType::f64) return reduce_fused(abs(x));
  const Angle a = reduce_fused(cast(abs(x), DType::f64)), b = reduce_window(x);
  const Value near = abs(x) < real(x, 0x1p28);
  return {where(near, a.quadrant, b.quadrant), where(near, a.r, b.r)};
}

Value bit(Value n, int mask) { return (n & integer(n, mask)) != integer(n, 0); }

Value sin_of(Value r) {
  const Value z = r * r;
  return fma(r * z, polynomial(z, sine), r);
}
Value cos_of(Value r) {
  const Value z = r * r;
  const Value h = z * real(z, 0.5), w = real(z, 1) - h;
  return w + fma(z * z, polynomial(z, cosine), (real(z, 1) - w) - h);
}

Value finish(Value x, Value y) {
  const Value result = x.dtype() == DType::f32 ? cast(y, DType::f32) : y;
  const Value finite = abs(x) < real(x, std::numeric_limits<double>::infinity());
  return where(finite, result, real(x, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Value expand_sin(Value x) {
  const Angle a = reduce(x);
  const Value y = where(bit(a.quadrant, 1), cos_of(a.r), sin_of(a.r));
  const Value s = where(bit(a.quadrant, 2), -y, y);
  const Value negative = x < real(x, 0);
  return where(x == real(x, 0), x, finish(x, where(negative, -s, s)));
}

Value expand_cos(Value x) {
  const Angle a = reduce(x);
  const Value y = where(bit(a.quadrant, 1), sin_of(a.r), cos_of(a.r));
  const Value flip = bit(a.quadrant + integer(a.quadrant, 1), 2);
  return finish(x, where(flip, -y, y));
}

Value expand_tan(Value x) {
  const Angle a = reduce(x);
  const Value s = sin_of(a.r), c = cos_of(a.r);
  const Value y = where(bit(a.quadrant, 1), -(c / s), s / c);
  const Value negative = x < real(x, 0);
  return where(x == real(x, 0), x, finish(x, where(negative, -y, y)));
}

}  // namespace kiln::compiler
