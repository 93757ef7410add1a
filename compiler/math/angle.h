// Reduction of an angle modulo pi/2, for every finite f32 and f64.
#pragma once

#include <optional>

#include "compiler/math/emit.h"

namespace kiln::compiler {

// |x| = n pi/2 + r + low, |r| <= pi/4. The quadrant n is an i64 of which only the value modulo 4 counts; r is f64 for both
// types; low, below the rounding of r, is there for f64 arguments only.
struct Angle {
  Value quadrant, r;
  std::optional<Value> low = {};
};

// The callers restore the sign of x. Infinite and NaN arguments give garbage that the caller replaces.
Angle reduce_angle(Value x);

}  // namespace kiln::compiler
