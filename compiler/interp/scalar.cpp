#include "compiler/interp/scalar.h"

namespace kiln::compiler::scalar {
namespace {

// Rounds to a small binary float with `exponent` exponent bits and `mantissa` stored mantissa bits.
std::uint16_t narrow(double x, int exponent, int mantissa) {
  const auto b = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint16_t>((b >> 63) << (exponent + mantissa));
  const int bias = (1 << (exponent - 1)) - 1;
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent) - 1) << mantissa);
  if (x != x) return static_cast<std::uint16_t>(sign | infinity | (1 << (mantissa - 1)));
  const int e = static_cast<int>(b >> 52 & 0x7ff) - 1023;
  if ((b << 1) == 0 || e < -bias - mantissa - 1) return sign;  // less than half the smallest subnormal
  if (e > bias) return static_cast<std::uint16_t>(sign | infinity);
  const std::uint64_t full = (b & 0xfffffffffffffu) | (std::uint64_t{1} << 52);
  const int drop = 52 - mantissa + (e < 1 - bias ? 1 - bias - e : 0);  // subnormals lose more bits
  const std::uint64_t kept = full >> drop, rest = full & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
  // The hidden bit of a normal number adds one to the exponent field, so `base` has an exponent less by one. A carry out of the
  // mantissa increments the exponent, as it must.
  const std::uint64_t base = e < 1 - bias ? 0 : static_cast<std::uint64_t>(e + bias - 1) << mantissa;
  const std::uint64_t magnitude = base + rounded;
  return static_cast<std::uint16_t>(sign | (magnitude > infinity ? infinity : magnitude));
}

float widen(std::uint16_t bits, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const int e = bits >> mantissa & ((1 << exponent) - 1);
  const int m = bits & ((1 << mantissa) - 1);
  const float sign = bits >> (exponent + mantissa) & 1 ? -1.0f : 1.0f;
  if (e == (1 << exponent) - 1)
    return m != 0 ? std::copysign(std::numeric_limits<float>::quiet_NaN(), sign)
                  : sign * std::numeric_limits<float>::infinity();
  if (e == 0) return sign * std::ldexp(static_cast<float>(m), 1 - bias - mantissa);
  return sign * std::ldexp(static_cast<float>(m + (1 << mantissa)), e - bias - mantissa);
}

}  // namespace

float to_float(Half h) { return widen(h.bits, 5, 10); }
float to_float(Brain b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }
Half to_half(double x) { return {narrow(x, 5, 10)}; }
Brain to_brain(double x) { return {narrow(x, 8, 7)}; }

}  // namespace kiln::compiler::scalar
