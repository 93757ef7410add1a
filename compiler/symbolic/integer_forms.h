// Integers of a fixed width as exact index values, as far as nothing can wrap. compiler/rangeify (ExactIndex) and
// compiler/races (IndexForms) both use them. A value without such a form becomes a cast in ExactIndex, a name in IndexForms.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {

inline constexpr std::int64_t exact_limit = std::int64_t{1} << 61;  // sums and differences of two such values fit 64 bits

// The interval of a type's values that have an exact index form: the type's range, cut at -exact_limit and exact_limit.
Interval exact_values(DType d);

// x << count as x * 2^count, and x >> count as floordiv(x, 2^count). Only the low bits of a count matter, by the width of x.
// no_id: the count is not a constant, or these bits are above most_count.
Id shift_form(Graph& g, Op op, Id x, Id count, int width, std::int64_t most_count);

// CDIV and CMOD as FLOORDIV and FLOORMOD. no_id: x or d may be negative, and then the two divisions may round differently.
Id quotient_form(Graph& g, Bounds& bounds, Op op, Id x, Id d);

}  // namespace kiln::compiler
