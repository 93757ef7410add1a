// Inputs for accuracy tests: input number i of a function, the same in every run.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "compiler/ir/op.h"

namespace kiln::tests {

constexpr std::uint64_t scramble(std::uint64_t z) {  // splitmix64
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <class T>
T from_bits(std::uint64_t b) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(b >> 32));
  else
    return std::bit_cast<double>(b);
}

inline double unit(std::uint64_t b) { return static_cast<double>(b >> 11) * 0x1p-53; }

// The ends of the range in which the function varies.
template <class T>
std::pair<double, double> interesting(compiler::Op op) {
  using compiler::Op;
  constexpr bool single = std::is_same_v<T, float>;
  switch (op) {
    case Op::EXP: return single ? std::pair(-106.0, 90.0) : std::pair(-748.0, 712.0);
    case Op::EXP2: return single ? std::pair(-152.0, 130.0) : std::pair(-1078.0, 1026.0);
    case Op::EXPM1: return single ? std::pair(-20.0, 90.0) : std::pair(-41.0, 712.0);
    case Op::LOG:
    case Op::LOG2:
    case Op::LOG10: return {0.25, 4};
    case Op::LOG1P: return {-1, 3};
    case Op::RSQRT: return {0, 8};
    case Op::ASIN:
    case Op::ACOS:
    case Op::ATANH: return {-1, 1};
    case Op::ATAN: return {-4, 4};
    case Op::SINH:
    case Op::COSH: return single ? std::pair(-90.0, 90.0) : std::pair(-712.0, 712.0);
    case Op::ACOSH: return {1, 8};
    case Op::SIGMOID: return single ? std::pair(-106.0, 20.0) : std::pair(-748.0, 40.0);
    case Op::TANH: return single ? std::pair(-11.0, 11.0) : std::pair(-23.0, 23.0);
    case Op::ERF: return single ? std::pair(-4.5, 4.5) : std::pair(-6.5, 6.5);
    default: return {-40, 40};
  }
}

template <class T>
T unary_input(compiler::Op op, std::uint64_t i) {
  using compiler::Op;
  const std::uint64_t r = scramble(i), s = scramble(r);
  const auto [low, high] = interesting<T>(op);
  switch (i % 4) {
    case 0: return from_bits<T>(r);
    case 1: return static_cast<T>(low + (high - low) * unit(r));
    case 2: {  // every magnitude from the smallest up to 64 ends of the range
      const double top = 6 + std::log2(std::max(high, -low)),
                   bottom = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
      const double m = std::exp2(bottom / 8 + (top - bottom / 8) * unit(r));
      return static_cast<T>((s & 1) != 0 ? m : -m);
    }
    default: break;
  }
  // Close to zeros and poles: multiples of pi/2; 1 for logarithms and inverse functions; 0.
  const double d = std::ldexp(unit(r) - 0.5, -static_cast<int>(s % 30));
  if (op == Op::SIN || op == Op::COS || op == Op::TAN) {
    const auto n = static_cast<double>(s >> (10 + s % 53));
    return static_cast<T>(n * 0x1.921fb54442d18p+0 + (s & 2 ? d : 0));
  }
  if (op == Op::ASIN || op == Op::ACOS || op == Op::ATANH)
    return static_cast<T>((s & 1) != 0 ? d : std::copysign(1 - std::fabs(d), d));
  return static_cast<T>((op == Op::LOG || op == Op::LOG2 || op == Op::LOG10 || op == Op::ACOSH ? 1 : 0) + d);
}

// x^y: any bits; finite results for any x; x close to 1 with a large y; small integers.
template <class T>
void power_input(std::uint64_t i, T& x, T& y) {
  const std::uint64_t r = scramble(i), s = scramble(r);
  const double range = std::is_same_v<T, float> ? 160 : 1080;
  const double target = (2 * unit(s) - 1) * range;  // log2 of the result
  switch (i % 4) {
    case 0: x = from_bits<T>(r), y = from_bits<T>(s); return;
    case 1: x = std::fabs(from_bits<T>(r)), y = static_cast<T>(target / std::log2(static_cast<double>(x))); return;
    case 2:
      x = static_cast<T>(1 + std::ldexp(unit(r) - 0.5, -static_cast<int>(r % 24)));
      y = static_cast<T>(target / std::log2(static_cast<double>(x)));
      return;
    default: x = static_cast<T>(unit(r) * 40 - 20), y = static_cast<T>(std::floor(unit(s) * 64) - 32); return;
  }
}

// Points around the origin: any bits; all quotients; quotients near each other; equal exponents.
template <class T>
void pair_input(std::uint64_t i, T& x, T& y) {
  const std::uint64_t r = scramble(i), s = scramble(r);
  x = from_bits<T>(r);
  switch (i % 4) {
    case 0: y = from_bits<T>(s); return;
    case 1: x = static_cast<T>(unit(r) * 16 - 8), y = static_cast<T>(unit(s) * 16 - 8); return;
    case 2: y = static_cast<T>(static_cast<double>(x) * std::ldexp(unit(s) - 0.5, static_cast<int>(s % 61) - 30)); return;
    default: x = static_cast<T>(std::ldexp(unit(r) - 0.5, 40)), y = static_cast<T>(static_cast<double>(s % 1000) - 500); return;
  }
}

template <class T>
void sample_input(compiler::Op op, std::uint64_t i, T& x, T& y) {
  if (op == compiler::Op::POW)
    power_input(i, x, y);
  else if (op == compiler::Op::ATAN2 || op == compiler::Op::FMOD)
    pair_input(i, x, y);
  else
    x = unary_input<T>(op, i), y = 0;
}

}  // namespace kiln::tests
