// Operations on one element: conversions, integer semantics, extrema, rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/interp/scalar.h"

namespace {

namespace s = kiln::compiler::scalar;
using kiln::compiler::scalar::Bool;
using kiln::compiler::scalar::Brain;
using kiln::compiler::scalar::Half;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The value of a small float from its fields. nearest() searches neighbours, without any arithmetic of scalar.h.
long double field_value(unsigned bits, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1, e = static_cast<int>(bits >> mantissa) & ((1 << exponent) - 1);
  const auto m = static_cast<long double>(bits & ((1u << mantissa) - 1));
  const long double one = std::ldexp(1.0L, mantissa);
  return e == 0 ? std::ldexp(m / one, 1 - bias) : std::ldexp(1 + m / one, e - bias);
}
unsigned nearest(long double magnitude, int exponent, int mantissa) {
  const unsigned infinity = ((1u << exponent) - 1) << mantissa;
  unsigned low = 0, high = infinity;  // infinity's fields read as the next power of two: values from there on overflow
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (field_value(middle, exponent, mantissa) <= magnitude ? low : high) = middle;
  }
  const long double below = magnitude - field_value(low, exponent, mantissa),
                    above = field_value(high, exponent, mantissa) - magnitude;
  if (magnitude >= field_value(high, exponent, mantissa)) return infinity;
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

TEST(InterpScalar, NarrowFloatsWiden) {
  for (unsigned b = 0; b < 0x7c00; ++b) {
    ASSERT_EQ(s::to_float(Half{static_cast<std::uint16_t>(b)}), field_value(b, 5, 10));
    ASSERT_EQ(s::to_float(Half{static_cast<std::uint16_t>(b | 0x8000)}), -field_value(b, 5, 10));
  }
  for (unsigned b = 0; b < 0x7f80; ++b) ASSERT_EQ(s::to_float(Brain{static_cast<std::uint16_t>(b)}), field_value(b, 8, 7));
  EXPECT_EQ(s::to_float(Half{0x7c00}), inf);
  EXPECT_TRUE(std::isnan(s::to_float(Half{0x7c01})));
  EXPECT_TRUE(std::signbit(s::to_float(Half{0x8000})));
}

TEST(InterpScalar, NarrowingIsToNearestEvenOnce) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const int scale = static_cast<int>(random() % 48) - 30;
    double x = std::ldexp(static_cast<double>(random() >> 11), scale - 53);
    if (i % 3 == 0)
      x = static_cast<double>(s::to_float(Half{static_cast<std::uint16_t>(random() % 0x7c00)})) * (1 + std::ldexp(1.0, -11));
    if (i % 7 == 0) x = std::nextafter(x, random() % 2 == 0 ? 0 : inf);
    ASSERT_EQ(s::to_half(x).bits, nearest(x, 5, 10)) << std::hexfloat << x;
    ASSERT_EQ(s::to_brain(x).bits, nearest(x, 8, 7)) << std::hexfloat << x;
    ASSERT_EQ(s::to_half(-x).bits, nearest(x, 5, 10) | 0x8000) << std::hexfloat << x;
  }
  for (double x : {1e-60, 0x1p-25, 0x1.000001p-25, 0x1p-134, 0x1.8p-134, 65504.0, 65519.99, 65520.0, 1e300, inf, 0x1.fep+127,
                   0x1.ffp+127}) {
    EXPECT_EQ(s::to_half(x).bits, nearest(x, 5, 10)) << std::hexfloat << x;
    EXPECT_EQ(s::to_brain(x).bits, nearest(x, 8, 7)) << std::hexfloat << x;
  }
  // Through f32 this would round twice: the digits that break the tie for f16 are below the precision of f32.
  EXPECT_EQ(s::convert<Half>(1 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(s::convert<Brain>(std::int64_t{0x4040000000000001}).bits, nearest(0x4040000000000001.0p0L, 8, 7));
}

TEST(InterpScalar, WideIntegersToNarrowFloats) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    std::uint64_t u = random() >> (random() % 64);
    if (i % 2 == 0) u = (u & ~std::uint64_t{0} << (random() % 60)) | (random() % 3);  // ties and near ties
    ASSERT_EQ(s::convert<Brain>(u).bits, nearest(static_cast<long double>(u), 8, 7)) << u;
    ASSERT_EQ(s::convert<Half>(u).bits, nearest(static_cast<long double>(u), 5, 10)) << u;
    const auto v = static_cast<std::int64_t>(u);
    const auto magnitude = std::fabs(static_cast<long double>(v));
    ASSERT_EQ(s::convert<Brain>(v).bits, nearest(magnitude, 8, 7) | (v < 0 ? 0x8000u : 0)) << v;
  }
}

TEST(InterpScalar, FloatToIntegerSaturates) {
  EXPECT_EQ(s::convert<std::int8_t>(127.9f), 127);
  EXPECT_EQ(s::convert<std::int8_t>(128.0f), 127);
  EXPECT_EQ(s::convert<std::int8_t>(-128.9f), -128);
  EXPECT_EQ(s::convert<std::int8_t>(-1e30f), -128);
  EXPECT_EQ(s::convert<std::uint8_t>(-0.9), 0);
  EXPECT_EQ(s::convert<std::uint8_t>(-7.0), 0);
  EXPECT_EQ(s::convert<std::uint8_t>(255.99), 255);
  EXPECT_EQ(s::convert<std::int32_t>(nan), 0);
  EXPECT_EQ(s::convert<std::int32_t>(2147483647.5), 2147483647);
  EXPECT_EQ(s::convert<std::int32_t>(-2147483648.5), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(s::convert<std::int64_t>(0x1p63), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(s::convert<std::uint64_t>(0x1p64), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(s::convert<std::uint64_t>(inf), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(s::convert<std::uint64_t>(0x1.fffffffffffffp63), 0xfffffffffffff800u);
  EXPECT_EQ(s::convert<std::int64_t>(-inf), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(s::convert<Bool>(nan).value, 1);
  EXPECT_EQ(s::convert<Bool>(-0.0).value, 0);
  EXPECT_EQ(s::convert<Bool>(0.25).value, 1);
  EXPECT_EQ(s::convert<Bool>(256).value, 1);
  EXPECT_EQ(s::convert<std::int8_t>(300), 44);
  EXPECT_EQ(s::convert<std::uint64_t>(std::int8_t{-1}), ~std::uint64_t{0});
}

template <class T>
void check_division() {
  using L = std::numeric_limits<T>;
  for (int i = -40; i <= 40; ++i)
    for (int j = -9; j <= 9; ++j) {
      if (!L::is_signed && (i < 0 || j < 0)) continue;
      const auto a = static_cast<T>(i), b = static_cast<T>(j);
      const auto truncated = j == 0 ? 0 : static_cast<int>(std::trunc(static_cast<double>(i) / j));
      const auto floored = j == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(i) / j));
      ASSERT_EQ(s::cdiv(a, b), static_cast<T>(truncated));
      ASSERT_EQ(s::cmod(a, b), static_cast<T>(j == 0 ? 0 : i - truncated * j));
      ASSERT_EQ(s::floordiv(a, b), static_cast<T>(floored));
      ASSERT_EQ(s::floormod(a, b), static_cast<T>(j == 0 ? 0 : i - floored * j));
    }
  if constexpr (L::is_signed) {
    EXPECT_EQ(s::cdiv<T>(L::min(), T(-1)), L::min());
    EXPECT_EQ(s::cmod<T>(L::min(), T(-1)), 0);
    EXPECT_EQ(s::floordiv<T>(L::min(), T(-1)), L::min());
    EXPECT_EQ(s::floormod<T>(L::min(), T(-1)), 0);
    EXPECT_EQ(s::abs<T>(L::min()), L::min());
    EXPECT_EQ(s::shr<T>(T(-8), T(1)), T(-4));
  }
  EXPECT_EQ(s::add<T>(L::max(), T(1)), L::min());
  EXPECT_EQ(s::mul<T>(L::max(), T(2)), static_cast<T>(-2));
  EXPECT_EQ(s::sub<T>(L::min(), T(1)), L::max());
  EXPECT_EQ(s::shl<T>(T(3), static_cast<T>(8 * sizeof(T) + 1)), T(6));  // the count is masked to the width
}

TEST(InterpScalar, IntegersWrapAndDivideByAnything) {
  check_division<std::int8_t>();
  check_division<std::int16_t>();
  check_division<std::int32_t>();
  check_division<std::int64_t>();
  check_division<std::uint8_t>();
  check_division<std::uint16_t>();
  check_division<std::uint32_t>();
  check_division<std::uint64_t>();
}

TEST(InterpScalar, ExtremaSignsAndRounding) {
  EXPECT_TRUE(std::isnan(s::min(nan, 1.0)));
  EXPECT_TRUE(std::isnan(s::max(1.0, nan)));
  EXPECT_TRUE(std::signbit(s::min(0.0, -0.0)));
  EXPECT_TRUE(std::signbit(s::min(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(s::max(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(s::max(0.0, -0.0)));
  EXPECT_EQ(s::min(-inf, 3.0), -inf);
  EXPECT_TRUE(std::isnan(s::sign(nan)));
  EXPECT_TRUE(std::signbit(s::sign(-0.0)));
  EXPECT_EQ(s::sign(-7.5f), -1.0f);
  EXPECT_EQ(s::sign(std::uint8_t{200}), 1);
  for (double x : {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 4503599627370495.5, -4503599627370497.0, 1e300, -0.0,
                   inf, -3.7, 3.2}) {
    EXPECT_EQ(s::round(x), std::nearbyint(x)) << x;
    EXPECT_EQ(std::signbit(s::round(x)), std::signbit(x)) << x;
  }
  EXPECT_TRUE(std::isnan(s::round(nan)));
}

}  // namespace
