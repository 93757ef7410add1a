// Elementwise operations as a user writes them. elementwise_reference.cpp finds the reference by the output's name.
#pragma once

#include "tests/run/operations/tags.h"

using namespace kiln::dsl;

template <class D, class E>
struct arithmetic : program<arithmetic<D, E>> {
  in<D, E::S> x, y, z;
  out<D, E::S> add, sub, mul, div, neg, plus_literal, minus_from, absolute, signs, fused, clamped, clamp_literals, rectified;
  inout<D, E::S> add_to, sub_from, mul_by, div_by;
  constexpr void body() {
    add = x + y;
    sub = x - y;
    mul = x * y;
    div = x / y;
    neg = -x;
    plus_literal = x + 2;
    minus_from = 3 - x;
    absolute = abs(x);
    signs = sign(x);
    fused = fma(x, y, z);
    clamped = clamp(x, y, z);
    clamp_literals = clamp(x, 2, 7);
    rectified = relu(x);
    add_to += x;
    sub_from -= x;
    mul_by *= x;
    div_by /= x;
  }
};

template <class D, class E>
struct integers : program<integers<D, E>> {
  in<D, E::S> x, y;
  out<D, E::S> mod, left, right, inverted, quotient, remainder, ones, above, below, to_left, to_right, swapped, upper, average;
  inout<D, E::S> mod_by, left_by, right_by;
  constexpr void body() {
    mod = x % y;
    left = x << y;
    right = x >> y;
    inverted = ~x;
    quotient = floordiv(x, y);
    remainder = floormod(x, y);
    ones = popcount(x);
    above = clz(x);
    below = ctz(x);
    to_left = rotl(x, y);
    to_right = rotr(x, y);
    swapped = byteswap(x);
    upper = mulhi(x, y);
    average = avg(x, y);
    mod_by %= x;
    left_by <<= x;
    right_by >>= x;
  }
};

template <class D, class E>
struct bitwise : program<bitwise<D, E>> {
  in<D, E::S> x, y;
  out<D, E::S> both, either, differ;
  inout<D, E::S> and_with, or_with, xor_with;
  constexpr void body() {
    both = x & y;
    either = x | y;
    differ = x ^ y;
    and_with &= x;
    or_with |= x;
    xor_with ^= x;
  }
};

template <class D, class E>
struct logic : program<logic<D, E>> {
  in<D, E::S> x, y;
  out<D, E::S> both, either, negated;
  constexpr void body() {
    both = x && y;
    either = x || y;
    negated = !x;
  }
};

template <class D>
constexpr auto literal(int v) {
  if constexpr (std::is_same_v<D, bool>)
    return v != 0;
  else
    return v;
}

template <class D, class E>
struct ordering : program<ordering<D, E>> {
  in<D, E::S> x, y;
  in<bool, E::S> c;
  out<bool, E::S> less, at_most, greater, at_least, equal, unequal;
  out<D, E::S> least, greatest, selected, select_literal, two_literals, assigned;
  constexpr void body() {
    less = x < y;
    at_most = x <= y;
    greater = x > y;
    at_least = x >= y;
    equal = x == y;
    unequal = x != y;
    least = min(x, y);
    greatest = max(x, y);
    selected = select(c, x, y);
    select_literal = select(c, x, literal<D>(1));
    two_literals = select<D>(c, literal<D>(1), literal<D>(0));
    assigned = x;
  }
};

template <class D, class E>
struct casts : program<casts<D, E>> {
  in<D, E::S> x;
  out<bool, E::S> to_bool;
  out<i8, E::S> to_i8;
  out<i16, E::S> to_i16;
  out<i32, E::S> to_i32;
  out<i64, E::S> to_i64;
  out<u8, E::S> to_u8;
  out<u16, E::S> to_u16;
  out<u32, E::S> to_u32;
  out<u64, E::S> to_u64;
  out<f16, E::S> to_f16;
  out<bf16, E::S> to_bf16;
  out<f32, E::S> to_f32;
  out<f64, E::S> to_f64;
  constexpr void body() {
    to_bool = cast<bool>(x);
    to_i8 = cast<i8>(x);
    to_i16 = cast<i16>(x);
    to_i32 = cast<i32>(x);
    to_i64 = cast<i64>(x);
    to_u8 = cast<u8>(x);
    to_u16 = cast<u16>(x);
    to_u32 = cast<u32>(x);
    to_u64 = cast<u64>(x);
    to_f16 = cast<f16>(x);
    to_bf16 = cast<bf16>(x);
    to_f32 = cast<f32>(x);
    to_f64 = cast<f64>(x);
  }
};

template <class D>
using signed_bits =
    std::conditional_t<detail::bits<D> == 8, i8,
                       std::conditional_t<detail::bits<D> == 16, i16, std::conditional_t<detail::bits<D> == 32, i32, i64>>>;
template <class D>
using unsigned_bits =
    std::conditional_t<detail::bits<D> == 8, u8,
                       std::conditional_t<detail::bits<D> == 16, u16, std::conditional_t<detail::bits<D> == 32, u32, u64>>>;
template <class D>
using float_bits =
    std::conditional_t<detail::bits<D> == 8, i8,
                       std::conditional_t<detail::bits<D> == 16, f16, std::conditional_t<detail::bits<D> == 32, f32, f64>>>;

template <class D, class E>
struct bitcasts : program<bitcasts<D, E>> {
  in<D, E::S> x;
  out<signed_bits<D>, E::S> to_signed;
  out<unsigned_bits<D>, E::S> to_unsigned;
  out<float_bits<D>, E::S> to_float;
  out<std::conditional_t<detail::bits<D> == 16, bf16, float_bits<D>>, E::S> to_other;
  constexpr void body() {
    to_signed = bitcast<signed_bits<D>>(x);
    to_unsigned = bitcast<unsigned_bits<D>>(x);
    to_float = bitcast<float_bits<D>>(x);
    to_other = bitcast<std::conditional_t<detail::bits<D> == 16, bf16, float_bits<D>>>(x);
  }
};

template <class D, class E>
struct functions : program<functions<D, E>> {
  in<D, E::S> x, y, z;
  out<D, E::S> e, e2, em, l, l2, l1, root, inverse_root, s, c, t, th, er, down, up, nearest, toward_zero, power, mixed;
  out<D, E::S> ge, sg, si;
  out<bool, E::S> none, endless, number;
  constexpr void body() {
    none = isnan(x);
    endless = isinf(x);
    number = isfinite(x);
    e = exp(x);
    e2 = exp2(x);
    em = expm1(x);
    l = log(x);
    l2 = log2(x);
    l1 = log1p(x);
    root = sqrt(x);
    inverse_root = rsqrt(x);
    s = sin(x);
    c = cos(x);
    t = tan(x);
    th = tanh(x);
    er = erf(x);
    down = floor(x);
    up = ceil(x);
    nearest = round(x);
    toward_zero = trunc(x);
    power = pow(x, y);
    mixed = lerp(x, y, z);
    ge = gelu(x);
    sg = sigmoid(x);
    si = silu(x);
  }
};

template <class D, class E>
struct inverses : program<inverses<D, E>> {
  in<D, E::S> x, y;
  out<D, E::S> l10, cr, as, ac, at, sh, ch, ash, ach, ath, angle, rest, nearest_rest, distance, with_sign, scaled, fraction;
  out<i32, E::S> exponent;
  out<bool, E::S> minus;
  constexpr void body() {
    minus = signbit(x);
    l10 = log10(x);
    cr = cbrt(x);
    as = asin(x);
    ac = acos(x);
    at = atan(x);
    sh = sinh(x);
    ch = cosh(x);
    ash = asinh(x);
    ach = acosh(x);
    ath = atanh(x);
    angle = atan2(x, y);
    rest = fmod(x, y);
    nearest_rest = remainder(x, y);
    distance = hypot(x, y);
    with_sign = copysign(x, y);
    const auto [f, n] = frexp(y);
    fraction = f;
    exponent = n;
    scaled = ldexp(x, n);
  }
};
