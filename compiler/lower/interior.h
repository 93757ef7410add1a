// interior: the iterations of a range in which borders do not matter.
//
// before: stores with comparisons, MIN and MAX of index values near the ends of a range (padding, clamping). after: the same
// stores for iterations lo <= range < extent - cut, where each of these is decided: gates go, clamped indices are linear again
// and their loads contiguous. precondition: scalar code, reductions lowered. postcondition: equal values for every iteration in
// the interior.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct Interior {
  std::vector<Id> stores;
  std::int64_t lo = 0, cut = 0;
};

// nullopt: no border can be decided this way, or the borders are most of the range.
std::optional<Interior> find_interior(Graph& g, std::span<const Id> stores, Id range, int lanes, const Facts& facts);

// Whether outer and inner occur only in addresses and only as outer * extent(inner) + inner, as the pixels and channels of a
// row do away from its borders: then the stores are the same with outer = 0 and inner running over all elements. No inner
// loops.
bool walked_as_one(const Graph& g, std::span<const Id> stores, Id outer, Id inner);

}  // namespace kiln::compiler
