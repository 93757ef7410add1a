// Functions of C and of processors on floats and integers, written in the DSL itself. They are exact, except hypot, whose error
// is below one unit in the last place for f16, bf16 and f32, and below two for f64. Operands broadcast. The nodes of a function
// have the line of its call.
#pragma once

#include "kiln/dsl/nn.h"

namespace kiln::dsl {

namespace detail {

template <class D>
using signed_of =
    std::conditional_t<bits<D> == 8, i8, std::conditional_t<bits<D> == 16, i16, std::conditional_t<bits<D> == 32, i32, i64>>>;
template <class D>
using unsigned_of =
    std::conditional_t<bits<D> == 8, u8, std::conditional_t<bits<D> == 16, u16, std::conditional_t<bits<D> == 32, u32, u64>>>;
// The next wider integer type; 32 bits at least.
template <class D>
using wider_of =
    std::conditional_t<bits<D> == 32, std::conditional_t<is_signed<D>, i64, u64>, std::conditional_t<is_signed<D>, i32, u32>>;
// The float type in which ldexp and frexp work on the bits.
template <class D>
using ieee_of = std::conditional_t<std::is_same_v<D, f64>, f64, f32>;
template <class D>
inline constexpr int mantissa_bits = std::is_same_v<D, f64> ? 52 : 23;
template <class D>
inline constexpr int exponent_bias = std::is_same_v<D, f64> ? 1023 : 127;

// An operand, or a literal as a tensor of rank 0.
template <class D, class X>
constexpr auto lifted(builder* b, const X& x, const sloc& l) {
  return expr_<D, shape_of<X>>(b, detail::node_of<D>(b, x, l));
}

// 2^k for an integer k in the range of normal exponents.
template <class F, class K>
constexpr auto two_to(const K& k) {
  return bitcast<F>(cast<signed_of<F>>(k + exponent_bias<F>) << mantissa_bits<F>);
}
// x * 2^n for derivatives: with up to two roundings, and for an n of any size.
template <class F, class X, class N>
constexpr auto about_scaled(const X& x, const N& n) {
  constexpr int most = 2 * exponent_bias<F> - 4;
  const auto by = clamp(n, -most, most);
  const auto half = by >> 1;
  return cast<dtype_of<X>>(cast<F>(x) * detail::two_to<F>(half) * detail::two_to<F>(by - half));
}

}  // namespace detail

// The sign bit, also of zeros and NaN.
template <FloatOperand X>
constexpr auto signbit(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  return bitcast<detail::signed_of<dtype_of<X>>>(x) < 0;
}
// The magnitude of x with the sign of y.
template <class A, class B>
  requires(binary_why<A, B, klass::floating> == why::ok)
constexpr auto copysign(const A& x, const B& y, sloc l = sloc::current()) {
  using D = detail::common_dtype<A, B>;
  using U = detail::unsigned_of<D>;
  builder* to = detail::builder_of(x, y);
  called_from here(to, l);
  const auto a = detail::lifted<D>(to, x, l);
  const auto b = detail::lifted<D>(to, y, l);
  constexpr auto sign = std::uint64_t{1} << (detail::bits<D> - 1);
  const auto magnitude = bitcast<U>(a) & (sign - 1);
  const auto negative = bitcast<U>(b) & sign;
  const auto size = abs(a);
  return straight_through(bitcast<D>(magnitude | negative), select(signbit(b), -size, size));
}
// sqrt(x * x + y * y) without overflow; infinity if x or y is infinite.
template <class A, class B>
  requires(binary_why<A, B, klass::floating> == why::ok)
constexpr auto hypot(const A& x, const B& y, sloc l = sloc::current()) {
  using D = detail::common_dtype<A, B>;
  builder* to = detail::builder_of(x, y);
  called_from here(to, l);
  const auto a = abs(detail::lifted<D>(to, x, l));
  const auto b = abs(detail::lifted<D>(to, y, l));
  const auto endless = (a == __builtin_inf()) | (b == __builtin_inf());
  if constexpr (std::is_same_v<D, f64>) {
    const auto large = max(a, b);
    const auto down = select<f64>(large > 0x1p500, 0x1p-600, 1);
    const auto factor = select(large < 0x1p-500, 0x1p600, down);
    const auto p = large * factor;
    const auto q = min(a, b) * factor;
    const auto h = sqrt(fma(p, p, q * q)) / factor;
    return select(endless, __builtin_inf(), h);
  } else {
    const auto p = cast<f64>(a);
    const auto q = cast<f64>(b);
    const auto h = cast<D>(sqrt(fma(p, p, q * q)));
    return select(endless, __builtin_inf(), h);
  }
}
// x - n * y for the integer n nearest to x / y, the even one of two. fmod takes n toward zero.
template <class A, class B>
  requires(binary_why<A, B, klass::floating> == why::ok)
constexpr auto remainder(const A& x, const B& y, sloc l = sloc::current()) {
  using D = detail::common_dtype<A, B>;
  builder* to = detail::builder_of(x, y);
  called_from here(to, l);
  const auto numerator = detail::lifted<D>(to, x, l);
  const auto b = abs(detail::lifted<D>(to, y, l));
  const auto r = fmod(abs(numerator), b + b);
  const auto once = r - b;
  const auto twice = select(once + once >= b, once - b, once);
  const auto rest = select(r + r > b, twice, r);
  return select(signbit(numerator), -rest, rest);
}
// x = fraction * 2^exponent with 1/2 <= |fraction| < 1. A zero, an infinity and a NaN are fractions, with the exponent 0.
template <class F, class E>
struct frexp_result {
  F fraction;
  E exponent;
};
template <FloatOperand X>
constexpr auto frexp(const X& x, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  using F = detail::ieee_of<D>;
  using U = detail::unsigned_of<F>;
  called_from here(x.b, l);
  constexpr int mantissa = detail::mantissa_bits<F>, bias = detail::exponent_bias<F>;
  constexpr auto field = static_cast<std::uint64_t>(2 * bias + 1) << mantissa;
  constexpr auto half = static_cast<std::uint64_t>(bias - 1) << mantissa;
  constexpr auto all = ~std::uint64_t{0} >> (64 - detail::bits<F>);
  const auto wide = cast<F>(x);
  const auto tiny = abs(wide) < (std::is_same_v<F, f64> ? 0x1p-1022 : 0x1p-126);
  const auto word = bitcast<U>(stop_gradient(select(tiny, wide * 0x1p60, wide)));
  const auto biased = cast<i32>((word & field) >> mantissa);
  const auto shift = select<i32>(tiny, bias - 1 + 60, bias - 1);
  const auto regular = isfinite(x) & (x != 0);
  const auto fraction = cast<D>(bitcast<F>((word & (all ^ field)) | half));
  const auto e = select(regular, biased - shift, 0);
  const auto f = straight_through(select(regular, fraction, x), detail::about_scaled<F>(x, -e));
  return frexp_result<std::remove_cvref_t<decltype(f)>, std::remove_cvref_t<decltype(e)>>{f, e};
}

// x * 2^n with one rounding; n: i32.
template <FloatOperand X, class N>
  requires(detail::fits<N, i32>() == why::ok)
constexpr auto ldexp(const X& x, const N& n, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  using F = detail::ieee_of<D>;
  called_from here(x.b, l);
  const auto parts = frexp(x);
  const auto by = clamp(detail::lifted<i32>(x.b, n, l), -5000, 5000);
  constexpr int limit = std::is_same_v<F, f64> ? 1200 : 200;
  const auto exponent = clamp(parts.exponent + by, -limit, limit);
  const auto half = exponent >> 1;
  const auto first = cast<F>(parts.fraction) * detail::two_to<F>(half);
  const auto scaled = cast<D>(first * detail::two_to<F>(exponent - half));
  const auto regular = isfinite(x) & (x != 0);
  return straight_through(select(regular, scaled, x), detail::about_scaled<F>(x, by));
}
// Integers. The count of zero bits below the lowest bit that is 1; the width for 0.
template <class X>
  requires(unary_why<X, klass::integer> == why::ok)
constexpr auto ctz(const X& x, sloc l = sloc::current()) {
  called_from here(x.b, l);
  const auto below = x - 1;
  return popcount(~x & below);
}
// The bits of x moved by n places, those that leave at one end enter at the other. The count is masked to the width.
template <class A, class B>
  requires(binary_why<A, B, klass::integer> == why::ok)
constexpr auto rotl(const A& x, const B& n, sloc l = sloc::current()) {
  using D = detail::common_dtype<A, B>;
  using U = detail::unsigned_of<D>;
  builder* to = detail::builder_of(x, n);
  called_from here(to, l);
  const auto bits = bitcast<U>(detail::lifted<D>(to, x, l));
  const auto count = bitcast<U>(detail::lifted<D>(to, n, l));
  const auto left = bits << count;
  const auto right = bits >> (0 - count);
  return bitcast<D>(left | right);
}
template <class A, class B>
  requires(binary_why<A, B, klass::integer> == why::ok)
constexpr auto rotr(const A& x, const B& n, sloc l = sloc::current()) {
  builder* to = detail::builder_of(x, n);
  called_from here(to, l);
  const auto count = detail::lifted<detail::common_dtype<A, B>>(to, n, l);
  return rotl(x, 0 - count);
}
// The bytes of x in reverse order.
template <class X>
  requires(unary_why<X, klass::integer> == why::ok)
constexpr auto byteswap(const X& x, sloc l = sloc::current()) {
  using D = dtype_of<X>;
  using U = detail::unsigned_of<D>;
  called_from here(x.b, l);
  const auto bits = bitcast<U>(x);
  if constexpr (detail::bits<D> == 8) {
    return bitcast<D>(bits);
  } else {
    // Neighbouring bytes, then neighbouring pairs of bytes, then halves.
    constexpr auto bytes = static_cast<std::uint64_t>(0x00ff00ff00ff00ff) >> (64 - detail::bits<D>);
    const auto odd = (bits & bytes) << 8;
    const auto even = (bits >> 8) & bytes;
    const auto by_1 = odd | even;
    if constexpr (detail::bits<D> == 16) {
      return bitcast<D>(by_1);
    } else {
      constexpr auto pairs = static_cast<std::uint64_t>(0x0000ffff0000ffff) >> (64 - detail::bits<D>);
      const auto odd_pairs = (by_1 & pairs) << 16;
      const auto even_pairs = (by_1 >> 16) & pairs;
      const auto by_2 = odd_pairs | even_pairs;
      if constexpr (detail::bits<D> == 32) {
        return bitcast<D>(by_2);
      } else {
        const auto low = by_2 << 32;
        const auto high = by_2 >> 32;
        return bitcast<D>(low | high);
      }
    }
  }
}
// The upper half of the product of x and y, which has twice the width.
template <class A, class B>
  requires(binary_why<A, B, klass::integer> == why::ok)
constexpr auto mulhi(const A& x, const B& y, sloc l = sloc::current()) {
  using D = detail::common_dtype<A, B>;
  builder* to = detail::builder_of(x, y);
  called_from here(to, l);
  const auto a = detail::lifted<D>(to, x, l);
  const auto b = detail::lifted<D>(to, y, l);
  if constexpr (detail::bits<D> < 64) {
    using W = detail::wider_of<D>;
    const auto wide_a = cast<W>(a);
    const auto wide_b = cast<W>(b);
    return cast<D>((wide_a * wide_b) >> detail::bits<D>);
  } else {
    const auto ua = bitcast<u64>(a);
    const auto ub = bitcast<u64>(b);
    const auto a0 = ua & 0xffffffffu;
    const auto a1 = ua >> 32;
    const auto b0 = ub & 0xffffffffu;
    const auto b1 = ub >> 32;
    const auto low = (a0 * b0) >> 32;
    const auto middle = a1 * b0 + low;
    const auto other = a0 * b1 + (middle & 0xffffffffu);
    const auto high = a1 * b1 + (middle >> 32) + (other >> 32);
    if constexpr (std::is_same_v<D, u64>) {
      return high;
    } else {
      const auto of_a = select(a < 0, b, 0);
      const auto of_b = select(b < 0, a, 0);
      return bitcast<i64>(high) - of_a - of_b;
    }
  }
}
// (x + y) / 2 without overflow, rounded up.
template <class A, class B>
  requires(binary_why<A, B, klass::integer> == why::ok)
constexpr auto avg(const A& x, const B& y, sloc l = sloc::current()) {
  called_from here(detail::builder_of(x, y), l);
  const auto either = x | y;
  const auto differ = x ^ y;
  return either - (differ >> 1);
}

#define KILN_X(f, k)                                      \
  template <class X, why Reason = unary_why<X, klass::k>> \
    requires(detail::wrong(Reason))                       \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_X(signbit, floating)
KILN_X(frexp, floating)
KILN_X(ctz, integer)
KILN_X(byteswap, integer)
#undef KILN_X
#define KILN_X(f, k)                                                   \
  template <class A, class B, why Reason = binary_why<A, B, klass::k>> \
    requires(detail::wrong(Reason))                                    \
  mistake<Reason> f(const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_X(copysign, floating)
KILN_X(hypot, floating)
KILN_X(remainder, floating)
KILN_X(rotl, integer)
KILN_X(rotr, integer)
KILN_X(mulhi, integer)
KILN_X(avg, integer)
#undef KILN_X
template <class X, class N,
          why Reason = detail::wrong(unary_why<X, klass::floating>) ? unary_why<X, klass::floating> : detail::fits<N, i32>()>
  requires(detail::wrong(Reason))
mistake<Reason> ldexp(const X&, const N&) KILN_MISTAKE(KILN_REASONS_OPERAND);

}  // namespace kiln::dsl
