// The least and the greatest lane of a vector of positions.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

class LaneExtremes {
 public:
  LaneExtremes(Graph& g, const Facts& facts) : g_(g), bounds_(g, facts) {}

  // A scalar of the vector's type: its least or greatest lane. nullopt: the lanes are not integers in ascending or descending
  // order.
  std::optional<Id> lane(Id v, bool greatest);

  // The same as an index. nullopt: the lanes are not positions, or a cast or a sum of them wraps.
  std::optional<Id> position(Id v, bool greatest);

 private:
  Id position_of_cast(Id v, std::int64_t reach);

  Graph& g_;
  Bounds bounds_;
};

}  // namespace kiln::compiler
