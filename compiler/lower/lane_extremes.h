// The least and the greatest lane of a vector of positions, or bounds of them.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct Extremes {
  Id least, greatest;
};

class LaneExtremes {
 public:
  LaneExtremes(Graph& g, const Facts& facts) : g_(g), bounds_(g, facts) {}

  // Scalars of the vector's type. nullopt: the lanes are not integers whose order is known.
  std::optional<Extremes> lanes(Id v);

  // The same as indices. nullopt: the lanes are not sums of a few positions, or a cast or a sum of them wraps.
  std::optional<Extremes> positions(Id v, int most_terms = 4);

 private:
  std::optional<Extremes> sum(Id v, int most_terms);
  std::optional<Extremes> ramp(Id v);
  bool fit(const Extremes& e, DType d);

  Graph& g_;
  Bounds bounds_;
};

}  // namespace kiln::compiler
