// A scalar index as constant + sum of coefficient * term. Two indices with equal terms have a constant distance.
#pragma once

#include <map>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct LinearIndex {
  std::map<Id, std::int64_t> terms;  // node -> its coefficient
  std::int64_t constant = 0;
};

// within_clamps: a MIN or MAX of two indices, one of which depends on no loop, counts as the other one.
LinearIndex linear_index(const Graph& g, Id index, bool within_clamps = false);
Id make_index(Graph& g, const LinearIndex& linear);

}  // namespace kiln::compiler
