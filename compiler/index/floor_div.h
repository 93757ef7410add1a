// Division of integers that rounds toward minus infinity: the meaning of FLOORDIV and FLOORMOD on index values. A division by 0
// gives 0, and the least integer divided by -1 wraps to itself.
//
// Four other definitions stay separate: dsl/include/kiln/dsl/polynomial.h, because the DSL includes nothing of the compiler;
// runtime/src/expression.c, because it is C; compiler/interp/scalar.h, because the interpreter is the reference for compiled
// code; compiler/proof/evaluate.cpp, because its integers have 128 bits.
#pragma once

#include <cstdint>

namespace kiln::compiler {

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

}  // namespace kiln::compiler
