// The hash from which the examples make random numbers (PCG-RXS-M-XS-32).
#pragma once

#include <kiln/dsl.h>

constexpr auto pcg(kiln::Operand auto const& v) {
  auto s = v * 747796405 + 2891336453;
  auto w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737;
  return (w >> 22) ^ w;
}
// A number in [0, 1].
constexpr auto pcgf(kiln::Operand auto const& v) { return cast<kiln::f32>(pcg(v)) / 4294967295.0f; }
