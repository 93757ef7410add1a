// Operators and functions that make nodes, so that expansions read like formulas.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// A value under construction.
struct Value {
  Graph* g;
  Id id;
  DType dtype() const { return g->dtype(id); }
};

inline Value make(Op op, DType d, std::initializer_list<Value> v) {
  Id ids[3] = {};
  std::size_t n = 0;
  for (const Value& x : v) ids[n++] = x.id;
  return {v.begin()->g, v.begin()->g->make(op, d, std::span<const Id>(ids, n))};
}

inline Value real(Value like, double v) {
  const std::uint64_t bits =
      like.dtype() == DType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(v)) : std::bit_cast<std::uint64_t>(v);
  return {like.g, like.g->constant(like.dtype(), bits)};
}
inline Value integer(Graph& g, DType d, std::int64_t v) {
  const auto bits = static_cast<std::uint64_t>(v);
  return {&g, g.constant(d, d == DType::u32 ? bits & 0xffffffff : bits)};
}
inline Value integer(Value like, std::int64_t v) { return integer(*like.g, like.dtype(), v); }

inline Value operator+(Value a, Value b) { return make(Op::ADD, a.dtype(), {a, b}); }
inline Value operator-(Value a, Value b) { return make(Op::SUB, a.dtype(), {a, b}); }
inline Value operator*(Value a, Value b) { return make(Op::MUL, a.dtype(), {a, b}); }
inline Value operator/(Value a, Value b) { return make(Op::FDIV, a.dtype(), {a, b}); }
inline Value operator-(Value a) { return make(Op::NEG, a.dtype(), {a}); }
inline Value operator&(Value a, Value b) { return make(Op::AND, a.dtype(), {a, b}); }
inline Value operator|(Value a, Value b) { return make(Op::OR, a.dtype(), {a, b}); }
inline Value operator^(Value a, Value b) { return make(Op::XOR, a.dtype(), {a, b}); }
inline Value operator<(Value a, Value b) { return make(Op::LT, DType::boolean, {a, b}); }
inline Value operator>(Value a, Value b) { return b < a; }
inline Value operator<=(Value a, Value b) { return make(Op::LE, DType::boolean, {a, b}); }
inline Value operator==(Value a, Value b) { return make(Op::EQ, DType::boolean, {a, b}); }
inline Value operator!=(Value a, Value b) { return make(Op::NE, DType::boolean, {a, b}); }
inline Value shl(Value a, int n) { return make(Op::SHL, a.dtype(), {a, integer(a, n)}); }
inline Value shr(Value a, int n) { return make(Op::SHR, a.dtype(), {a, integer(a, n)}); }
inline Value fma(Value a, Value b, Value c) { return make(Op::FMA, a.dtype(), {a, b, c}); }
inline Value where(Value c, Value a, Value b) { return make(Op::WHERE, a.dtype(), {c, a, b}); }
inline Value abs(Value a) { return make(Op::ABS, a.dtype(), {a}); }
inline Value sqrt(Value a) { return make(Op::SQRT, a.dtype(), {a}); }
inline Value round(Value a) { return make(Op::ROUND, a.dtype(), {a}); }
inline Value trunc(Value a) { return make(Op::TRUNC, a.dtype(), {a}); }
inline Value floor(Value a) { return make(Op::FLOOR, a.dtype(), {a}); }
inline Value cast(Value a, DType d) { return make(Op::CAST, d, {a}); }
inline Value bitcast(Value a, DType d) { return make(Op::BITCAST, d, {a}); }

// c[0] + x*(c[1] + x*(...)) by fma.
inline Value polynomial(Value x, std::span<const double> c) {
  Value p = real(x, c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;) p = fma(p, x, real(x, c[i]));
  return p;
}

// The polynomial near[0] + x*(near[1] + ...) in lanes where `c` is true, else that of `far`, with the same number of terms.
// Multiply-adds limit the speed of most expansions, and selects run beside them. So this costs less than two polynomials.
inline Value polynomial_of(Value c, Value x, std::span<const double> near, std::span<const double> far) {
  const auto term = [&](std::size_t i) { return where(c, real(x, near[i]), real(x, far[i])); };
  Value p = term(near.size() - 1);
  for (std::size_t i = near.size() - 1; i-- > 0;) {
    const Value next = term(i);
    p = fma(p, x, next);
  }
  return p;
}

// An unevaluated sum of two values; low is below the rounding of high.
struct Pair {
  Value high, low;
};
// a + b exactly (Knuth). The fast form (Dekker) requires |a| >= |b| or a == 0.
inline Pair two_sum(Value a, Value b) {
  const Value s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline Pair fast_two_sum(Value a, Value b) {
  const Value s = a + b;
  return {s, (a - s) + b};
}
// a * b exactly.
inline Pair two_product(Value a, Value b) {
  const Value p = a * b;
  return {p, fma(a, b, -p)};
}
inline Pair operator*(Pair a, Pair b) {
  const Pair p = two_product(a.high, b.high);
  return fast_two_sum(p.high, p.low + fma(a.high, b.low, a.low * b.high));
}
// Requires |a| >= |b|, or opposite signs that do not cancel. The series here satisfy this.
inline Pair operator+(Pair a, Pair b) {
  const Pair s = two_sum(a.high, b.high);
  return fast_two_sum(s.high, s.low + (a.low + b.low));
}

// Properties of a float type that depend on its width.
struct Format {
  DType integer;
  int mantissa, bias, width;
};
inline Format format(DType d) { return d == DType::f32 ? Format{DType::i32, 23, 127, 32} : Format{DType::i64, 52, 1023, 64}; }

// The magnitude of a with the sign of s.
inline Value copysign(Value a, Value s) {
  const Format f = format(a.dtype());
  const std::int64_t sign = f.width == 32 ? INT32_MIN : INT64_MIN;
  const Value m = integer(*a.g, f.integer, sign);
  const Value keep = integer(*a.g, f.integer, ~sign);
  return bitcast((bitcast(a, f.integer) & keep) | (bitcast(s, f.integer) & m), a.dtype());
}

// Conversions between integers and floats work on the bits of the floats, because saturating casts cost more, and x86 before
// AVX-512 has no conversions between f64 and 64-bit integers.

// The bits of 1.5 * 2^mantissa + n: as integers, the bits of 1.5 * 2^mantissa plus n. n: an integer, |n| < 2^(mantissa-1).
inline Value integer_bits(Value n) {
  const Format f = format(n.dtype());
  return bitcast(n + real(n, f.width == 32 ? 0x1.8p23 : 0x1.8p52), f.integer);
}
// Converts an integer-valued f64 below 2^51 to i64.
inline Value to_i64(Value n) { return integer_bits(n) - integer(*n.g, DType::i64, 0x4338000000000000); }
// Converts a u64 below 2^52 to f64.
inline Value to_f64(Value n) {
  const Value bits = bitcast(n | integer(n, 0x4330000000000000), DType::f64);
  return bits - real(bits, 0x1p52);
}

// f(x) in f64, rounded to the type of x.
Value in_f64(Value x, auto f) { return x.dtype() == DType::f64 ? f(x) : cast(f(cast(x, DType::f64)), x.dtype()); }

inline Value scale(Value x, Value n) { return make(Op::SCALE, x.dtype(), {x, n}); }

// 2^n for an integer-valued float n in the normal range.
inline Value power_of_two(Value n) {
  const Format f = format(n.dtype());
  const std::int64_t one = std::int64_t{f.bias} << f.mantissa;
  return bitcast(shl(integer_bits(n), f.mantissa) + integer(*n.g, f.integer, one), n.dtype());
}

// Functions on values, by family. The head of each source file describes its method.
Value expand_exp(Value x);
// x = n ln 2 + r with |r| <= ln(2)/2
struct ReducedExponent {
  Value r, n;
};
ReducedExponent reduce_exp(Value x);
Value exp_slope(Value r);  // (exp(r) - 1) / r for such an r
Value half_exp(Value x);   // exp(x) / 2, which is infinite only if sinh(x) is
// Without overflow and underflow: the exponents are below 80 in magnitude.
Value exp_plus_one(Value x);                  // exp(x) + 1 with about one rounding
Value exp_of_fma(Value a, Value b, Value c);  // exp(a * b + c), where the exponent is not rounded
Value expand_exp2(Value x);
Value expand_expm1(Value x);
Value expand_scale(Value x, Value n);
// exp(r + low) 2^n for |r| <= ln(2)/2 and an n up to a little beyond the range of results.
Value exp_scaled(Value r, Value low, Value n);
// For results that are then rounded to f32: f64 arguments, relative errors of 2^-32 (log2: normal x > 0).
Value exp2_for_single(Value x);
Value log2_for_single(Value x);
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x, also subnormal x. Other x give meaningless values.
struct Logarithm {
  Value k, f;
};
Logarithm reduce_log(Value x);
Logarithm reduce_log_normal(Value x);  // not for subnormal x
Value expand_log(Value x);
Value expand_log2(Value x);
Value expand_log10(Value x);
Value expand_log1p(Value x);
Value expand_cbrt(Value x);
Value expand_sin(Value x);
Value expand_cos(Value x);
Value expand_tan(Value x);
Value expand_asin(Value x);
Value expand_acos(Value x);
Value expand_atan(Value x);
Value expand_atan2(Value y, Value x);
Value expand_sinh(Value x);
Value expand_cosh(Value x);
Value expand_tanh(Value x);
Value expand_asinh(Value x);
Value expand_acosh(Value x);
Value expand_atanh(Value x);
Value expand_sigmoid(Value x);
Value expand_erf(Value x);
Value expand_pow(Value x, Value y);
Value expand_fmod(Value x, Value y);

}  // namespace kiln::compiler
