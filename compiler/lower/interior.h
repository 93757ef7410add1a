// interior: finds the iterations of a range for which the conditions of borders are known.
//
// Before: stores with comparisons, MIN, MAX and FLOORMOD of index values that only matter near the ends of a range (padding,
//   clamping, wrapping).
// After: the same stores for the iterations lo <= range < extent - cut. Each of these conditions has its constant value there,
//   so gates disappear, clamped and wrapped indices are linear and their loads are contiguous. The values are the same.
// Requires: scalar code, reductions lowered.
// Example: WHERE(i >= 1, LOAD(x, i - 1, gate i >= 1), 0)  ->  LOAD(x, i - 1), with lo = 1 and cut = 0
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
  std::vector<Id> low;  // the stores for range < lo, if these iterations can have lanes too: a concatenation's first part
};

// nullopt: no condition is known in an interior, or the borders are most of the range.
std::optional<Interior> find_interior(Graph& g, std::span<const Id> stores, Id range, int lanes, const Facts& facts);

// Whether outer and inner occur only as outer * extent(inner) + inner, only in addresses, and in no inner loop. Pixels and
// channels of a row are like this away from the borders. The stores then do the same with outer = 0 and inner over all
// elements.
bool walked_as_one(const Graph& g, std::span<const Id> stores, Id outer, Id inner);

}  // namespace kiln::compiler
