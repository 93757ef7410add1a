// Reduction of an angle modulo pi/2, for every finite f32 and f64.
#pragma once

#include <optional>

#include "compiler/math/emit.h"

namespace kiln::compiler {

// |x| = n pi/2 + r + low, with |r| <= pi/4. The quadrant is n as an i64; only its value modulo 4 counts. r is f64 for both
// types. low is a correction below the rounding of r, for f64 arguments only.
struct Angle {
  Value quadrant, r;
  std::optional<Value> low = {};
};

// The callers restore the sign of x. For an infinite or NaN x the angle is meaningless, and the callers replace the result.
Angle reduce_angle(Value x);

}  // namespace kiln::compiler
