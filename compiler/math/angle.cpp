// Reduces angles modulo pi/2. Up to 2^28 the reduction takes three fused steps. Above, |x| * 2/pi modulo 4 is computed
// in integers from a window of the bits of 2/pi (Payne and Hanek, 1983). Selects choose these bits from constants, so
// no table is loaded.
#include "compiler/math/angle.h"

#include <array>
#include <utility>
#include <vector>

namespace kiln::compiler {
namespace {

// The first bits of 2/pi, the highest of weight 2^-1. They were computed with 4000 bits.
constexpr std::uint64_t two_over_pi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                         0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                         0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                         0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                         0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

constexpr double pi_half_1 = 0x1.921fb54442d18p+0, pi_half_2 = 0x1.1a62633145c07p-54, pi_half_3 = -0x1.f1976b7ed8fbcp-110;

// Subtracts n * pi/2, with pi/2 in three parts. The first step is exact: the difference has no bit below 2^-52.
Angle reduce_fused(Value x, bool with_low) {
  const Value n = round(x * real(x, 0x1.45f306dc9c883p-1));
  const Value exact = fma(n, real(x, -pi_half_1), x);
  if (!with_low) return {to_i64(n), fma(n, real(x, -pi_half_3), fma(n, real(x, -pi_half_2), exact))};
  const Value p = n * real(x, -pi_half_2);
  const Value p_low = fma(n, real(x, -pi_half_3), fma(n, real(x, -pi_half_2), -p));
  const auto [r, error] = two_sum(exact, p);
  return {to_i64(n), r, error + p_low};
}

Value variable_shift(Op op, Value a, Value n) { return make(op, a.dtype(), {a, n}); }
Value word(Value like, std::uint64_t v) { return {like.g, like.g->constant(DType::u64, v)}; }

// 64 bits of `high:low` after a shift to the left by n < 64.
Value funnel(Value high, Value low, Value n) {
  const Value complement = word(n, 63) - n;
  return variable_shift(Op::SHL, high, n) | variable_shift(Op::SHR, shr(low, 1), complement);
}

// The 64-bit words k .. k+3 of 64 zero bits followed by 2/pi, for k < 32. Each step of this shifter handles one bit of k.
std::array<Value, 4> pick_words(Value k) {
  std::vector<Value> t = {word(k, 0)};
  for (std::uint64_t w : two_over_pi) t.push_back(word(k, w));
  for (std::size_t step = 16; step > 0; step /= 2) {
    const Value odd = (k & word(k, step)) != word(k, 0);
    std::vector<Value> next;
    for (std::size_t i = 0; i < step + 3; ++i)
      if (i < t.size()) next.push_back(i + step < t.size() ? where(odd, t[i + step], t[i]) : t[i]);
    t = std::move(next);
  }
  return {t[0], t[1], t[2], t[3]};
}

// The upper 64 bits of a 53-bit by 64-bit product.
Value multiply_high(Value m, Value w) {
  const Value mask = word(m, 0xffffffff);
  const Value m0 = m & mask, m1 = shr(m, 32), w0 = w & mask, w1 = shr(w, 32);
  const Value a = m0 * w1, b = m1 * w0;
  const Value middle = shr(m0 * w0, 32) + (a & mask) + (b & mask);
  return m1 * w1 + shr(a, 32) + shr(b, 32) + shr(middle, 32);
}

// 0 <= high:low < 2^126 as a sum of two f64. The second part is below the rounding of the first.
std::pair<Value, Value> to_parts(Value high, Value low) {
  const Value mask = word(high, 0xffffffff);
  const Value d3 = to_f64(shr(high, 32)), d2 = to_f64(high & mask), d1 = to_f64(shr(low, 32)), d0 = to_f64(low & mask);
  const Value a = d3 * real(d3, 0x1p96), b = d2 * real(d3, 0x1p64);
  const Value sum = a + b;
  return {sum, ((a - sum) + b) + fma(d1, real(d1, 0x1p32), d0)};
}

// |x| = m 2^(e-1075) >= 2^28. The window starts at bit e - 1077, because earlier bits of 2/pi give multiples of 4.
Angle reduce_window_double(Value x) {
  const Value bits = bitcast(abs(x), DType::u64);
  const Value m = (bits & word(bits, 0xfffffffffffff)) | word(bits, std::uint64_t{1} << 52);
  const Value offset = shr(bits, 52) - word(bits, 1077 - 64);
  const Value shift = offset & word(bits, 63);
  const auto t = pick_words(shr(offset, 6));
  const Value w0 = funnel(t[0], t[1], shift), w1 = funnel(t[1], t[2], shift), w2 = funnel(t[2], t[3], shift);
  // y1:y0 = |x| 2/pi modulo 4, times 2^126
  const Value y0 = m * w1 + multiply_high(m, w2);
  const Value carry = cast(y0 < m * w1, DType::u64);
  const Value y1 = m * w0 + multiply_high(m, w1) + carry;
  const Value n = shr(y1 + word(bits, std::uint64_t{1} << 61), 62);
  const Value rest = y1 - shl(n, 62);
  const Value negative = shr(rest, 63);
  const Value flip = word(bits, 0) - negative;
  const Value low = (y0 ^ flip) + negative;
  const Value high = (rest ^ flip) + (negative & cast(low == word(bits, 0), DType::u64));
  const auto [a, b] = to_parts(high, low);
  // times pi/2
  const Value top = a * real(a, 0x1.921fb54442d18p-126);
  const Value error = fma(a, real(a, 0x1.921fb54442d18p-126), -top);
  const auto [r, r_low] = two_sum(top, fma(a, real(a, 0x1.1a62633145c07p-180), error) + b * real(a, 0x1.921fb54442d18p-126));
  const Value minus = negative != word(bits, 0);
  return {bitcast(n, DType::i64), where(minus, -r, r), where(minus, -r_low, r_low)};
}

// |x| = m 2^(e-150) >= 2^28. The window starts at bit e - 152; 96 bits of it suffice.
Angle reduce_window_single(Value x) {
  Graph& g = *x.g;
  const auto u64 = [&](std::int64_t v) { return integer(g, DType::u64, v); };
  const Value bits = cast(bitcast(abs(x), DType::u32), DType::u64);
  const Value m = (bits & u64(0x7fffff)) | u64(0x800000);
  const Value offset = shr(bits, 23) - u64(152);
  const Value k = shr(offset, 5), shift = offset & u64(31);
  const auto pick = [&](int first) {
    const auto half = [&](int i) { return word(x, two_over_pi[i / 2] >> (i % 2 == 0 ? 32 : 0) & 0xffffffff); };
    Value w = half(3 + first);
    for (int i = 2; i >= 0; --i) w = where(k == u64(i), half(i + first), w);
    return w;
  };
  const Value t[] = {pick(0), pick(1), pick(2), pick(3)};
  const auto window = [&](int i) { return shr(variable_shift(Op::SHL, shl(t[i], 32) | t[i + 1], shift), 32); };
  const Value y = shl(m * window(0), 32) + m * window(1) + shr(m * window(2), 32);  // |x| 2/pi modulo 4, times 2^62
  const Value n = shr(y + u64(std::int64_t{1} << 61), 62);
  // The rest is signed. Adding 2^62 makes the upper half non-negative; `high - 2^30` below removes it again.
  const Value rest = y - shl(n, 62) + u64(std::int64_t{1} << 62);
  const Value high = to_f64(shr(rest, 32)), low = to_f64(rest & u64(0xffffffff));
  const Value r = fma(high - real(high, 0x1p30), real(high, 0x1p32), low);
  return {bitcast(n, DType::i64), r * real(r, 0x1.921fb54442d18p-62)};
}

}  // namespace

Angle reduce_angle(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Angle a = reduce_fused(single ? cast(abs(x), DType::f64) : abs(x), !single);
  const Angle b = single ? reduce_window_single(x) : reduce_window_double(x);
  const Value near = abs(x) < real(x, 0x1p28);
  Angle out{where(near, a.quadrant, b.quadrant), where(near, a.r, b.r)};
  if (!single) out.low = where(near, *a.low, *b.low);
  return out;
}

}  // namespace kiln::compiler
