// Index arithmetic on scalars and lanes. A vector of indices stays RAMP{base} args {stride} as long as it is one, so that
// loads and stores are seen to be contiguous.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// a op b for index values of equal or different lanes; folds constants, 0 and 1, and ramps.
Id index_binary(Graph& g, Op op, Id a, Id b);
inline Id add_index(Graph& g, Id a, Id b) { return index_binary(g, Op::ADD, a, b); }
inline Id sub_index(Graph& g, Id a, Id b) { return index_binary(g, Op::SUB, a, b); }
inline Id mul_index(Graph& g, Id a, Id b) { return index_binary(g, Op::MUL, a, b); }

// Scalars to `lanes`; vectors of that many lanes stay.
Id widen_lanes(Graph& g, Id value, int lanes);
Id ramp(Graph& g, Id base, std::int64_t stride, int lanes);

// Lane l is true when position + l < end. On i32, because 64-bit comparisons fill twice the registers.
Id lane_mask(Graph& g, Id position, Id end, int lanes);

// The constant c such that the index is c * range + (something without range); nullopt when it has no such form.
std::optional<std::int64_t> index_stride(const Graph& g, Id index, Id range);

}  // namespace kiln::compiler
