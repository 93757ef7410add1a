// Index arithmetic on scalars and on vectors of lanes. A vector of indices with a constant distance between its lanes is always
// written RAMP{base} args {stride}, so that later steps recognise contiguous loads and stores.
#pragma once

#include <optional>
#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The node for `a op b`. The lanes of a and b may differ. Folds constants, ramps, and operations with 0 or 1.
Id index_binary(Graph& g, Op op, Id a, Id b);
inline Id add_index(Graph& g, Id a, Id b) { return index_binary(g, Op::ADD, a, b); }
inline Id sub_index(Graph& g, Id a, Id b) { return index_binary(g, Op::SUB, a, b); }
inline Id mul_index(Graph& g, Id a, Id b) { return index_binary(g, Op::MUL, a, b); }

// A vector of `lanes` lanes: a scalar in every lane, or the vector itself.
Id widen_lanes(Graph& g, Id value, int lanes);
Id ramp(Graph& g, Id base, std::int64_t stride, int lanes);

// Lane l is true when position + l < end. Compares in i32, because 64-bit lanes would fill twice as many registers.
Id lane_mask(Graph& g, Id position, Id end, int lanes);

// 1 if the product of the factors is at least n, else 0; a negative factor counts as 0. n is at most 2^31. Each factor is
// limited to n, so that the product cannot overflow.
Id product_reaches(Graph& g, std::span<const Id> factors, std::int64_t n);

// The constant c for which the index is c * range + (a term without range). nullopt: the index has no such form.
std::optional<std::int64_t> index_stride(const Graph& g, Id index, Id range);

}  // namespace kiln::compiler
