#include "tests/run/reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace kiln::compiler::testing {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// The product modulo 2^128. A product of two 64-bit values may exceed the signed range.
Wide product(Wide a, Wide b) { return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)); }

Wide integer_value(DType d, Bits b) {
  if (d == DType::boolean) return b & 1;
  const int n = bits(d);
  const Bits low = n == 64 ? b : b & ((Bits{1} << n) - 1);
  if (is_signed_int(d) && (low >> (n - 1) & 1) != 0) return static_cast<Wide>(low) - (static_cast<Wide>(1) << n);
  return static_cast<Wide>(low);
}
Bits integer_bits(DType d, Wide v) {
  return bits(d) == 64 ? static_cast<Bits>(v) : static_cast<Bits>(v) & ((Bits{1} << bits(d)) - 1);
}
Wide lowest(DType d) { return is_signed_int(d) ? -(static_cast<Wide>(1) << (bits(d) - 1)) : 0; }
Wide highest(DType d) { return (static_cast<Wide>(1) << (bits(d) - (is_signed_int(d) ? 1 : 0))) - 1; }

// All finite values of a 16-bit float, in ascending order of magnitude, by the format's definition.
struct Table {
  int mantissa, bias;
  std::vector<long double> magnitudes;  // by bits without the sign
  explicit Table(int m) : mantissa(m), bias(m == 10 ? 15 : 127) {
    const int top = ((m == 10 ? 31 : 255) << m);
    for (int b = 0; b < top; ++b) {
      const int e = b >> m, f = b & ((1 << m) - 1);
      magnitudes.push_back(e == 0 ? std::ldexp(static_cast<long double>(f), 1 - bias - m)
                                  : std::ldexp(static_cast<long double>(f + (1 << m)), e - bias - m));
    }
  }
};
const Table& table(DType d) {
  static const Table half(10), brain(7);
  return d == DType::f16 ? half : brain;
}

Bits narrow_bits(DType d, long double v) {
  const Table& t = table(d);
  const auto infinity = static_cast<Bits>(t.magnitudes.size());
  const Bits sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return infinity | 1;
  const long double a = std::fabs(v);
  const auto& m = t.magnitudes;
  const auto above = static_cast<std::size_t>(std::lower_bound(m.begin(), m.end(), a) - m.begin());
  if (above == m.size()) {
    const long double limit = m.back() + (m.back() - m[m.size() - 2]) / 2;
    return sign | (a >= limit ? infinity : infinity - 1);
  }
  if (m[above] == a || above == 0) return sign | above;
  const long double up = m[above] - a, down = a - m[above - 1];
  const bool take_up = up < down || (up == down && above % 2 == 0);
  return sign | (take_up ? above : above - 1);
}

long double compute_nan() { return std::numeric_limits<long double>::quiet_NaN(); }

// One f32 or f64 operation. f16 and bf16 compute in f32.
template <class T>
T native(Op op, T a, T b, T c) {
  switch (op) {
    case Op::ADD: return a + b;
    case Op::SUB: return a - b;
    case Op::MUL: return a * b;
    case Op::FDIV: return a / b;
    case Op::FMA: return std::fma(a, b, c);
    case Op::SQRT: return std::sqrt(a);
    case Op::RSQRT: return T(1) / std::sqrt(a);
    case Op::FMOD: return std::fmod(a, b);
    case Op::NEG: return -a;
    case Op::ABS: return std::signbit(a) ? -a : a;
    case Op::SIGN: return a > 0 ? T(1) : a < 0 ? T(-1) : a;
    case Op::FLOOR: return std::floor(a);
    case Op::CEIL: return std::ceil(a);
    case Op::TRUNC: return std::trunc(a);
    case Op::ROUND: return std::nearbyint(a);
    case Op::MIN:
    case Op::MAX: {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      const bool a_first = a < b || (a == b && std::signbit(a));
      return (op == Op::MIN) == a_first ? a : b;
    }
    default: throw std::logic_error("reference: " + std::string(name(op)));
  }
}

long double transcendental(Op op, long double a, long double b) {
  switch (op) {
    case Op::EXP: return std::exp(a);
    case Op::EXP2: return std::exp2(a);
    case Op::EXPM1: return std::expm1(a);
    case Op::LOG: return std::log(a);
    case Op::LOG2: return std::log2(a);
    case Op::LOG1P: return std::log1p(a);
    case Op::LOG10: return std::log10(a);
    case Op::CBRT: return std::cbrt(a);
    case Op::ASIN: return std::asin(a);
    case Op::ACOS: return std::acos(a);
    case Op::ATAN: return std::atan(a);
    case Op::SINH: return std::sinh(a);
    case Op::COSH: return std::cosh(a);
    case Op::ASINH: return std::asinh(a);
    case Op::ACOSH: return std::acosh(a);
    case Op::ATANH: return std::atanh(a);
    case Op::SIGMOID: return 1 / (1 + std::exp(-a));
    case Op::ATAN2: return std::atan2(a, b);
    case Op::SIN: return std::sin(a);
    case Op::COS: return std::cos(a);
    case Op::TAN: return std::tan(a);
    case Op::TANH: return std::tanh(a);
    case Op::ERF: return std::erf(a);
    default: return std::pow(a, b);
  }
}
bool is_transcendental(Op op) { return is_math(op) && op != Op::RSQRT && op != Op::FMOD; }

bool compare(Op op, auto a, auto b) { return op == Op::LT ? a < b : op == Op::LE ? a <= b : op == Op::EQ ? a == b : a != b; }

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// The value of 16 bits of a, from bit `shift` on.
Wide half(Wide a, int shift) {
  return integer_value(DType::i16, integer_bits(DType::i16, floor_div(a, static_cast<Wide>(1) << shift)));
}

// The number of bits of a that are 1, or of zeros above the highest of these.
Wide count_bits(Op op, DType d, Wide a) {
  int ones = 0, above = bits(d);
  for (int i = 0; i < bits(d); ++i)
    if ((integer_bits(d, a) >> i & 1) != 0) ++ones, above = bits(d) - 1 - i;
  return op == Op::POPCOUNT ? ones : above;
}

Wide integer_op(Op op, DType d, Wide a, Wide b, Wide c) {
  const Wide shift = b & (bits(d) - 1);
  switch (op) {
    case Op::ADD: return a + b;
    case Op::SUB: return a - b;
    case Op::MUL: return product(a, b);
    case Op::DOT2: return half(a, 0) * half(b, 0) + half(a, 16) * half(b, 16);
    case Op::FMA: return integer_value(d, integer_bits(d, product(a, b))) + c;
    case Op::NEG: return -a;
    case Op::NOT: return d == DType::boolean ? 1 - a : ~a;
    case Op::ABS: return a < 0 ? -a : a;
    case Op::SIGN: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Op::POPCOUNT:
    case Op::CLZ: return count_bits(op, d, a);
    case Op::FLOOR:
    case Op::CEIL:
    case Op::TRUNC:
    case Op::ROUND: return a;
    case Op::CDIV: return b == 0 ? 0 : a / b;
    case Op::CMOD: return b == 0 ? 0 : a % b;
    case Op::FLOORDIV: return b == 0 ? 0 : floor_div(a, b);
    case Op::FLOORMOD: return b == 0 ? 0 : a - b * floor_div(a, b);
    case Op::MIN: return a < b ? a : b;
    case Op::MAX: return a < b ? b : a;
    case Op::AND: return a & b;
    case Op::OR: return a | b;
    case Op::XOR: return a ^ b;
    case Op::SHL: return product(a, static_cast<Wide>(1) << shift);
    case Op::SHR: return floor_div(a, static_cast<Wide>(1) << shift);
    default: throw std::logic_error("reference: " + std::string(name(op)));
  }
}

Bits cast_bits(DType from, DType to, Bits b) {
  if (is_float(from)) {
    const long double v = real_value(from, b);
    if (to == DType::boolean) return v != 0;
    if (is_float(to)) return real_bits(to, v);
    if (std::isnan(v)) return 0;
    if (v >= static_cast<long double>(highest(to))) return integer_bits(to, highest(to));
    if (v <= static_cast<long double>(lowest(to))) return integer_bits(to, lowest(to));
    return integer_bits(to, static_cast<Wide>(v));
  }
  const Wide v = integer_value(from, b);
  if (to == DType::boolean) return v != 0;
  return is_float(to) ? real_bits(to, static_cast<long double>(v)) : integer_bits(to, v);  // 64 bits are exact in long double
}

Expected float_element(Op op, DType d, const std::vector<Bits>& x) {
  long double v[3] = {};
  for (std::size_t i = 0; i < x.size(); ++i) v[i] = real_value(d, x[i]);
  if (is_transcendental(op)) {
    Expected e;
    e.value = transcendental(op, v[0], v[1]);
    e.ulps = d == DType::f64 ? 4 : d == DType::f32 ? 2 : 1;
    return e;
  }
  if (op == Op::NEG && bits(d) == 16) return {x[0] ^ 0x8000, 0, 0};
  if (d == DType::f64)
    return {real_bits(d, native(op, static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2]))), 0, 0};
  return {real_bits(d, native(op, static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]))), 0, 0};
}

}  // namespace

long double real_value(DType d, Bits b) {
  if (d == DType::f64) return std::bit_cast<double>(b);
  if (d == DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(b));
  const Table& t = table(d);
  const auto magnitude = static_cast<std::size_t>(b & 0x7fff);
  const long double sign = (b & 0x8000) != 0 ? -1 : 1;
  if (magnitude < t.magnitudes.size()) return sign * t.magnitudes[magnitude];
  return magnitude == t.magnitudes.size() ? sign * std::numeric_limits<long double>::infinity() : compute_nan();
}

Bits real_bits(DType d, long double v) {
  if (d == DType::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(v));
  if (d == DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(v));
  return narrow_bits(d, v);
}

bool is_nan(DType d, Bits b) { return is_float(d) && std::isnan(real_value(d, b)); }

double distance_in_ulps(DType d, Bits got, long double value) {
  const long double g = real_value(d, got);
  if (std::isnan(g) || std::isnan(value))
    return std::isnan(g) && std::isnan(value) ? 0 : std::numeric_limits<double>::infinity();
  if (g == value) return 0;
  const int digits = d == DType::f64 ? 53 : d == DType::f32 ? 24 : d == DType::f16 ? 11 : 8;
  const int least = d == DType::f64 ? -1074 : d == DType::f32 ? -149 : d == DType::f16 ? -24 : -133;
  if (std::isinf(g)) return real_bits(d, value) == got ? 0 : std::numeric_limits<double>::infinity();
  int e = 0;
  std::frexp(value, &e);
  return static_cast<double>(std::fabs(g - value) / std::ldexp(1.0L, std::max(e - digits, least)));
}

Expected expected_element(Op op, DType d, DType result, const std::vector<Bits>& x) {
  if (op == Op::CAST) return {cast_bits(d, result, x[0]), 0, 0};
  if (op == Op::BITCAST) return {x[0], 0, 0};
  if (op == Op::WHERE) return {(x[0] & 1) != 0 ? x[1] : x[2], 0, 0};
  if (is_comparison(op)) {
    const bool r = is_float(d) ? compare(op, real_value(d, x[0]), real_value(d, x[1]))
                               : compare(op, integer_value(d, x[0]), integer_value(d, x[1]));
    return {r ? Bits{1} : Bits{0}, 0, 0};
  }
  if (is_float(d)) return float_element(op, d, x);
  Wide v[3] = {};
  for (std::size_t i = 0; i < x.size(); ++i) v[i] = integer_value(d, x[i]);
  const Wide r = integer_op(op, d, v[0], v[1], v[2]);
  return {d == DType::boolean ? static_cast<Bits>(r & 1) : integer_bits(d, r), 0, 0};
}

}  // namespace kiln::compiler::testing
