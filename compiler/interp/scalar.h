// The semantics of one element: docs/reference/numbers.md in C++, one function for each operation and kind of type.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "compiler/ir/dtype.h"

namespace kiln::compiler::scalar {

// 16-bit floats as bit patterns. Conversion to float is exact. Arithmetic widens to float and rounds after each operation.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t value;
};

float to_float(Half h);
float to_float(Brain b);
// Round once to nearest even. Sources of type float convert to double exactly.
Half to_half(double x);
Brain to_brain(double x);

template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T> || is_narrow<T>;

// The type in which arithmetic on T is done.
template <class T>
using Compute = std::conditional_t<is_narrow<T>, float, T>;

template <class T>
Compute<T> load(T v) {
  if constexpr (is_narrow<T>)
    return to_float(v);
  else
    return v;
}
template <class T>
T round_to(Compute<T> v) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(v);
  else if constexpr (std::is_same_v<T, Brain>)
    return to_brain(v);
  else
    return v;
}

// Converts. Float to integer truncates and saturates, and NaN gives 0. Integer to integer wraps.
template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(static_cast<std::int32_t>(from.value));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<std::uint8_t>(load(from) != Compute<From>(0))};
  } else if constexpr (std::is_same_v<To, Half>) {
    // Integers of up to 32 bits are exact in double. Wider integers that double rounds are infinite in f16 anyway.
    return to_half(static_cast<double>(load(from)));
  } else if constexpr (std::is_same_v<To, Brain>) {
    if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
      // Rounds to odd in double, so that the second rounding gives the same result as a single one.
      double d = static_cast<double>(from);
      const bool exact = d < 0x1p63 * (std::is_unsigned_v<From> ? 2 : 1) && static_cast<From>(d) == from;
      if (!exact && (std::bit_cast<std::uint64_t>(d) & 1) == 0) {
        const bool above = d >= 0x1p63 * (std::is_unsigned_v<From> ? 2 : 1) || static_cast<From>(d) > from;
        d = std::bit_cast<double>(std::bit_cast<std::uint64_t>(d) + ((above == (d > 0)) ? ~std::uint64_t{0} : 1));
      }
      return to_brain(d);
    }
    return to_brain(static_cast<double>(load(from)));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(load(from));
  } else if constexpr (is_real<From>) {
    const auto x = load(from);
    using F = decltype(x);
    if (x != x) return 0;
    constexpr F top = static_cast<F>(std::uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;  // 2^digits
    if (x >= top) return std::numeric_limits<To>::max();
    if (x <= (std::is_signed_v<To> ? -top : F(-1))) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(from);
  }
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// Wrapping integer arithmetic in 64 unsigned bits, so that no promotion to int can overflow.
template <class T>
T wrap(std::uint64_t v) {
  return static_cast<T>(v);
}
template <class T>
T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return wrap<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T sub(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return wrap<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
template <class T>
T mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return wrap<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <class T>
T fma(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else
    return add<T>(mul<T>(a, b), c);
}
template <class T>
T popcount(T a) {
  return static_cast<T>(std::popcount(static_cast<Unsigned<T>>(a)));
}
template <class T>
T leading_zeros(T a) {
  return static_cast<T>(std::countl_zero(static_cast<Unsigned<T>>(a)));
}
template <class T>
T cdiv(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return sub<T>(0, a);
  return static_cast<T>(a / b);
}
template <class T>
T cmod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}
template <class T>
T floordiv(T a, T b) {
  if (b == 0) return 0;
  const T q = cdiv(a, b), m = cmod(a, b);
  if constexpr (std::is_signed_v<T>)
    if (m != 0 && (m < 0) != (b < 0)) return static_cast<T>(q - 1);
  return q;
}
template <class T>
T floormod(T a, T b) {
  const T m = cmod(a, b);
  if constexpr (std::is_signed_v<T>)
    if (m != 0 && (m < 0) != (b < 0)) return static_cast<T>(m + b);
  return m;
}
template <class T>
T shl(T a, T b) {
  return wrap<T>(static_cast<std::uint64_t>(a) << (static_cast<unsigned>(b) & (8 * sizeof(T) - 1)));
}
template <class T>
T shr(T a, T b) {
  return static_cast<T>(a >> (static_cast<unsigned>(b) & (8 * sizeof(T) - 1)));
}
// NaN if either is NaN; -0 is below +0.
template <class T>
T min(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}
// x * 2^n with one rounding, for an integer n or NaN.
template <class T>
T scale(T x, T n) {
  return n != n ? n : std::scalbn(x, static_cast<int>(n));
}
template <class T>
T sign(T a) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || a == 0) return a;
    return a < 0 ? T(-1) : T(1);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>((a > 0) - (a < 0));
  } else {
    return static_cast<T>(a > 0);
  }
}
template <class T>
T abs(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a);
  else
    return a < T(0) ? sub<T>(0, a) : a;
}
// Rounds half to even in any rounding mode of the process.
template <class T>
T round(T a) {
  const T t = std::trunc(a);
  const T d = std::fabs(a - t);
  const bool odd = std::fmod(t, T(2)) != T(0);
  const T r = d > T(0.5) || (d == T(0.5) && odd) ? t + std::copysign(T(1), a) : t;
  return std::copysign(r, a);
}

}  // namespace kiln::compiler::scalar
