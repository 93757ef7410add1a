// Conditions that compare the lanes of a vector of positions with a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// stride * lane, compared with `limit`. The limit is between the values at which the comparison has one result in all lanes.
struct LaneLimit {
  std::int64_t stride;
  Id limit;  // a scalar index
};

// Of LT and LE: x + s * lane < y + t * lane is (s - t) * lane < y - x. nullopt: the operands have another form.
std::optional<LaneLimit> lane_limit(Graph& g, Id condition);

// The condition in which lane i holds if the lanes one[i] and other[i] of the given condition hold. Comparisons stay
// comparisons with one limit, because shuffles of truth values take several instructions.
Id condition_of_both(Graph& g, Id condition, std::span<const std::int64_t> one, std::span<const std::int64_t> other);

}  // namespace kiln::compiler
