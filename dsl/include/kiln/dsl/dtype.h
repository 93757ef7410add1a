// Element types as tags (bool itself, i8 ... f64), and literals turned into the bits of an element type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kiln/dsl/error.h"
#include "kiln/dtype.h"

namespace kiln::dsl {

// A tag has no objects. `f32 a = x(i)` would declare a variable of C++, so it is an error with a message.
#define KILN_TAG(code, T, bits, type)                                                                                   \
  struct T {                                                                                                            \
    template <why Reason = why::a_dtype_is_no_variable__write_auto_or_var>                                              \
    constexpr T() KILN_DELETED("kiln: a dtype is no variable: auto v = x(i), auto v = var(x(i)), local<f32, 4>()");     \
    template <class X, why Reason = why::a_dtype_is_no_variable__write_auto_or_var>                                     \
    constexpr T(const X&) KILN_DELETED("kiln: a dtype is no variable: auto v = x(i), auto v = var(x(i)), local<..>()"); \
  };
KILN_NUMBER_DTYPES(KILN_TAG)
#undef KILN_TAG

namespace detail {

template <class D>
inline constexpr int code_of = -1;
template <class D>
inline constexpr int bits = 0;
#define KILN_X(code, name, width, type)             \
  template <>                                       \
  inline constexpr int code_of<name> = KILN_##code; \
  template <>                                       \
  inline constexpr int bits<name> = width;
KILN_DTYPES(KILN_X)
#undef KILN_X

}  // namespace detail

template <class D>
concept DType = detail::code_of<D> >= 0;
// The constraint of parameters' declarations: compilers print its name as the message.
template <class D>
concept dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 = DType<D>;

namespace detail {

template <DType D>
inline constexpr kiln_dtype dtype_v = static_cast<kiln_dtype>(code_of<D>);
template <class D>
inline constexpr bool is_bool = std::is_same_v<D, bool>;
template <class D>
inline constexpr bool is_float = code_of<D> >= KILN_F16;
template <class D>
inline constexpr bool is_signed = code_of<D> >= KILN_I8 && code_of<D> <= KILN_I64;
template <class D>
inline constexpr bool is_int = code_of<D> >= KILN_I8 && code_of<D> <= KILN_U64;

// The bits of v in a narrower binary format with `exponent` and `mantissa` bits, rounded once, to nearest even.
constexpr std::uint64_t round_bits(double v, int exponent, int mantissa) {
  const auto bits = __builtin_bit_cast(std::uint64_t, v);
  const std::uint64_t sign = (bits >> 63) << (exponent + mantissa);
  const std::uint64_t top = (std::uint64_t{1} << exponent) - 1;
  const int e = static_cast<int>((bits >> 52) & 2047);
  const std::uint64_t m = bits & ((std::uint64_t{1} << 52) - 1);
  if (e == 2047) return sign | (top << mantissa) | (m != 0 ? std::uint64_t{1} << (mantissa - 1) : 0);
  if (e == 0) return sign;  // zero and f64 subnormals
  const int bias = (1 << (exponent - 1)) - 1;
  int target = e - 1023 + bias;
  int shift = 52 - mantissa;
  if (target <= 0) {
    shift += 1 - target;
    target = 0;
  }
  if (shift > 54) return sign;
  const std::uint64_t full = m | (std::uint64_t{1} << 52);
  std::uint64_t kept = full >> shift;
  const std::uint64_t lost = full & ((std::uint64_t{1} << shift) - 1), half = std::uint64_t{1} << (shift - 1);
  if (lost > half || (lost == half && (kept & 1) != 0)) ++kept;
  // The hidden bit of a normal number adds one to the exponent field; a carry out of the mantissa does the same.
  std::uint64_t r = target == 0 ? kept : (static_cast<std::uint64_t>(target - 1) << mantissa) + kept;
  if (r >= top << mantissa) r = top << mantissa;
  return sign | r;
}

struct literal {
  std::uint64_t bits = 0;
  bool fits = true;
};

template <class L>
concept arithmetic = std::is_arithmetic_v<L>;

// Whether a dtype takes a literal of type L: bool takes bool, integers take integers, floating point takes any number.
template <class L, class D>
inline constexpr bool takes = is_bool<D>  ? std::is_same_v<L, bool>
                              : is_int<D> ? std::is_integral_v<L> && !std::is_same_v<L, bool>
                                          : !std::is_same_v<L, bool>;

template <DType D, arithmetic L>
constexpr detail::literal encode(L v) {
  if constexpr (is_bool<D>) {
    return {v ? 1u : 0u, true};
  } else if constexpr (is_int<D>) {
    const auto bits = static_cast<std::uint64_t>(v);
    const int n = detail::bits<D>;
    if constexpr (is_signed<D>) {
      const auto limit = std::uint64_t{1} << (n - 1);
      const bool fits = v < 0 ? std::uint64_t{0} - bits <= limit : bits < limit;
      return {bits, fits};
    } else {
      return {bits, v >= 0 && (n == 64 || bits >> (n < 64 ? n : 0) == 0)};
    }
  } else {
    const auto d = static_cast<double>(v);
    const bool finite = d == d && d != __builtin_inf() && d != -__builtin_inf();
    if constexpr (std::is_same_v<D, f64>) {
      return {__builtin_bit_cast(std::uint64_t, d), true};
    } else {
      constexpr int e = std::is_same_v<D, f16> ? 5 : 8, m = std::is_same_v<D, f16> ? 10 : std::is_same_v<D, bf16> ? 7 : 23;
      const std::uint64_t bits = detail::round_bits(d, e, m);
      const bool overflow = (bits & ((std::uint64_t{1} << (e + m)) - 1)) == ((std::uint64_t{1} << e) - 1) << m;
      return {bits, !(finite && overflow)};
    }
  }
}

}  // namespace detail

}  // namespace kiln::dsl
