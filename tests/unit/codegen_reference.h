// The semantics of elementwise operations in C++, on the bits of values. Shares no code with the compiler.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler::test {

using Bits = std::uint64_t;

inline Bits low_bits(Bits v, int width) { return width == 64 ? v : v & ((Bits{1} << width) - 1); }
inline std::int64_t sign_extend(Bits v, int width) { return static_cast<std::int64_t>(v << (64 - width)) >> (64 - width); }

// Rounds x once, half to even, to a binary format with `precision` bits, smallest quantum 2^low and largest value `max`.
inline double round_to(double x, int precision, int low, double max) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int quantum = std::max(exponent - precision, low);
  const double r = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
  return std::fabs(r) > max ? std::copysign(std::numeric_limits<double>::infinity(), x) : r;
}

inline double f16_value(Bits b) {
  const int e = static_cast<int>(b >> 10 & 31), m = static_cast<int>(b & 1023);
  const double magnitude = e == 31  ? (m != 0 ? std::nan("") : HUGE_VAL)
                           : e == 0 ? std::ldexp(m, -24)
                                    : std::ldexp(1024 + m, e - 25);
  return (b & 0x8000) != 0 ? -magnitude : magnitude;
}

inline Bits f16_bits(double x) {
  const Bits sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  const double r = std::fabs(round_to(x, 11, -24, 65504.0));
  if (std::isinf(r)) return sign | 0x7c00;
  if (r < std::ldexp(1.0, -14)) return sign | static_cast<Bits>(std::ldexp(r, 24));
  int e = 0;
  const double f = std::frexp(r, &e);  // r = f * 2^e, f in [0.5, 1)
  return sign | static_cast<Bits>(e + 14) << 10 | (static_cast<Bits>(std::ldexp(f, 11)) & 1023);
}

inline double bf16_value(Bits b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b << 16)); }
inline Bits bf16_bits(double x) {
  if (std::isnan(x)) return 0x7fc0;
  return std::bit_cast<std::uint32_t>(static_cast<float>(round_to(x, 8, -133, 0x1.fep127))) >> 16;
}

inline double float_value(DType d, Bits b) {
  switch (d) {
    case DType::f16: return f16_value(b);
    case DType::bf16: return bf16_value(b);
    case DType::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(b));
    default: return std::bit_cast<double>(b);
  }
}

inline Bits float_bits(DType d, double x) {
  switch (d) {
    case DType::f16: return f16_bits(x);
    case DType::bf16: return bf16_bits(x);
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(x));
    default: return std::bit_cast<Bits>(x);
  }
}

inline bool is_nan_bits(DType d, Bits b) { return is_float(d) && std::isnan(float_value(d, b)); }

template <class F>
F minimum(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<F>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class F>
F float_op(Op op, F a, F b, F c) {
  switch (op) {
    case Op::NEG: return -a;
    case Op::ABS: return std::fabs(a);
    case Op::SIGN: return std::isnan(a) || a == 0 ? a : std::copysign(F{1}, a);
    case Op::SQRT: return std::sqrt(a);
    case Op::FLOOR: return std::floor(a);
    case Op::CEIL: return std::ceil(a);
    case Op::TRUNC: return std::trunc(a);
    case Op::ROUND: return std::nearbyint(a);
    case Op::ADD: return a + b;
    case Op::SUB: return a - b;
    case Op::MUL: return a * b;
    case Op::FDIV: return a / b;
    case Op::MIN: return minimum(a, b);
    case Op::MAX: return -minimum(-a, -b);
    case Op::FMA: return std::fma(a, b, c);
    default: throw std::logic_error("float_op");
  }
}

template <class T>
bool compare_op(Op op, T a, T b) {
  switch (op) {
    case Op::LT: return a < b;
    case Op::LE: return a <= b;
    case Op::EQ: return a == b;
    default: return a != b;
  }
}

// Computes on values wider than the type. The caller cuts the result to the type's width.
template <class Wide>
Wide divide_op(Op op, Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide q = a / b, r = a % b;
  const bool floor = r != 0 && (r < 0) != (b < 0);
  switch (op) {
    case Op::CDIV: return q;
    case Op::CMOD: return r;
    case Op::FLOORDIV: return floor ? q - 1 : q;
    default: return floor ? r + b : r;
  }
}

inline Bits int_op(Op op, DType d, Bits a, Bits b, Bits c) {
  const int width = bits(d);
  const bool is_signed = is_signed_int(d) || d == DType::index;
  __extension__ using Wide = __int128;
  const auto wide = [&](Bits v) { return is_signed ? Wide{sign_extend(v, width)} : Wide{v}; };
  const Wide x = wide(a), y = wide(b);
  const int count = static_cast<int>(b & static_cast<Bits>(width - 1));
  switch (op) {
    case Op::NEG: return Bits{0} - a;
    case Op::NOT: return ~a;
    case Op::ABS: return static_cast<Bits>(x < 0 ? -x : x);
    case Op::SIGN: return static_cast<Bits>(static_cast<std::int64_t>(x > 0) - static_cast<std::int64_t>(x < 0));
    case Op::FLOOR:
    case Op::CEIL:
    case Op::ROUND:
    case Op::TRUNC: return a;
    case Op::ADD: return a + b;
    case Op::SUB: return a - b;
    case Op::MUL: return a * b;
    case Op::FMA: return a * b + c;
    case Op::MIN: return x < y ? a : b;
    case Op::MAX: return x < y ? b : a;
    case Op::AND: return a & b;
    case Op::OR: return a | b;
    case Op::XOR: return a ^ b;
    case Op::SHL: return a << count;
    case Op::SHR: return static_cast<Bits>(x >> count);
    default: return static_cast<Bits>(divide_op(op, x, y));
  }
}

inline Bits bool_op(Op op, Bits a, Bits b) {
  switch (op) {
    case Op::NOT: return a ^ 1;
    case Op::AND:
    case Op::MIN: return a & b;
    case Op::OR:
    case Op::MAX: return a | b;
    default: return a ^ b;
  }
}

// Any elementwise operation except CAST, BITCAST and WHERE, on operands of type d.
inline Bits reference(Op op, DType d, Bits a, Bits b, Bits c) {
  if (is_float(d)) {
    const double x = float_value(d, a), y = float_value(d, b), z = float_value(d, c);
    if (is_comparison(op)) return compare_op(op, x, y) ? 1 : 0;
    if (d == DType::f64) return float_bits(d, float_op<double>(op, x, y, z));
    return float_bits(d, float_op<float>(op, static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)));
  }
  if (is_comparison(op)) {
    if (is_signed_int(d)) return compare_op(op, sign_extend(a, bits(d)), sign_extend(b, bits(d))) ? 1 : 0;
    return compare_op(op, a, b) ? 1 : 0;
  }
  if (d == DType::boolean) return bool_op(op, a, b);
  return low_bits(int_op(op, d, a, b, c), bits(d));
}

inline Bits reference_cast(DType from, DType to, Bits v) {
  const bool signed_from = is_signed_int(from), signed_to = is_signed_int(to);
  if (is_float(from)) {
    const double x = float_value(from, v);
    if (is_float(to)) return float_bits(to, x);
    if (to == DType::boolean) return x != 0 ? 1 : 0;
    if (std::isnan(x)) return 0;
    const int magnitude = bits(to) - (signed_to ? 1 : 0);
    const double above = std::ldexp(1.0, magnitude), t = std::trunc(x);
    if (t >= above) return low_bits((magnitude == 64 ? ~Bits{0} : (Bits{1} << magnitude) - 1), bits(to));
    if (!signed_to) return t <= 0 ? 0 : static_cast<Bits>(t);
    return low_bits(t < -above ? Bits{1} << magnitude : static_cast<Bits>(static_cast<std::int64_t>(t)), bits(to));
  }
  const std::int64_t s = sign_extend(v, bits(from));
  if (to == DType::boolean) return v != 0 ? 1 : 0;
  if (!is_float(to)) return low_bits(signed_from ? static_cast<Bits>(s) : v, bits(to));
  if (to == DType::f32) return float_bits(to, static_cast<double>(signed_from ? static_cast<float>(s) : static_cast<float>(v)));
  if (to == DType::f64) return float_bits(to, signed_from ? static_cast<double>(s) : static_cast<double>(v));
  // Narrow floats round once: long double represents every 64-bit integer, and is rounded to odd before it becomes a double.
  const long double exact = signed_from ? static_cast<long double>(s) : static_cast<long double>(v);
  double near = static_cast<double>(exact);
  if (static_cast<long double>(near) != exact && (std::bit_cast<Bits>(near) & 1) == 0)
    near = std::nextafter(near, static_cast<long double>(near) < exact ? HUGE_VAL : -HUGE_VAL);
  return float_bits(to, near);
}

}  // namespace kiln::compiler::test
