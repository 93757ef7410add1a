// Reductions in the order that docs/reference/numbers.md defines. They are the reference for every schedule.
#pragma once

#include <span>

#include "compiler/interp/array.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// Reduces one axis of x, which is removed. Not for fma and dot.
Array reduce_axis(ReduceKind kind, const Array& x, std::size_t axis);

// The sum of a * b over the last `count` axes, as one chain of fma in row-major order.
Array reduce_fma(const Array& a, const Array& b, std::size_t count);
// The sum of a * b over the last axis, in striped order.
Array reduce_dot(const Array& a, const Array& b);

}  // namespace kiln::compiler
