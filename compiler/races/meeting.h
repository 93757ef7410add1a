// Whether two positions of a kernel can meet: a question about index values, answered by search.
//
// A Meeting is what would hold if they did. is_impossible() shows that nothing satisfies it, unless both are one position:
// equations are taken apart (mixed radix: s*x + y == 0 with |y| < s says x == 0 and y == 0), solved for a range and put into
// everything else, until one cannot hold, the positions agree on every axis, or the rows that are linear contradict each other
// (the Omega test). What a choice, an alternative, a remainder or an order of the positions decides is tried each way. Cost:
// bounded by rounds, depth and rows.
#pragma once

#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/races/position_forms.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct Meeting {
  struct Twin {
    Id first, second;  // one value where the positions agree on these axes
    std::vector<std::size_t> axes;
  };
  Conditions holds;
  std::vector<std::pair<Id, Id>> axes;  // both positions of the kernel
  std::vector<Twin> twins;
};

// False means "not shown".
bool is_impossible(Graph& g, const Facts& facts, Meeting m);

}  // namespace kiln::compiler
