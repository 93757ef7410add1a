// interior: finds the iterations of a range in which the conditions for its borders are constant.
//
// Before: stores with comparisons, MIN, MAX and FLOORMOD of index values that only matter near the ends of a range (padding,
//   clamping, wrapping).
// After: the same stores for the iterations lo <= range < extent - cut. In these iterations each condition is constant, so
//   gates disappear, clamped and wrapped indices are linear, and their loads are contiguous. The stored values are the same.
//   A clamped index may be a quotient of the range and a constant, as in an image that is enlarged: max((i - 1) // 2, 0).
// Requires: scalar code, reductions lowered.
// Example: WHERE(i >= 1, LOAD(x, i - 1, gate i >= 1), 0)  ->  LOAD(x, i - 1), with lo = 1 and cut = 0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct Interior {
  std::vector<Id> stores;
  std::int64_t lo = 0, cut = 0;
  // The stores for range < lo, if these iterations can have lanes too, as in the first part of a concatenation.
  std::vector<Id> low;
  // Only if the extent is symbolic, all indices are linear and `low` is empty. `left` stores for range < extent - cut, under
  // the conditions of the low border. `right` stores for lo <= range, under the conditions of the high border.
  std::vector<Id> left, right;
  bool is_linear = false;  // whether the indices of all accesses are linear in the range at the borders too
  bool is_known = false;   // whether constants give all indices at the borders, as if they wrap or are clamped: near_gathers
};

inline std::array<std::vector<Id>*, 4> all_stores(Interior& i) { return {&i.stores, &i.low, &i.left, &i.right}; }

// nullopt: no condition is known in an interior, or the borders are most of the range.
std::optional<Interior> find_interior(Graph& g, std::span<const Id> stores, Id range, int lanes, const Facts& facts);

// Whether outer and inner occur only as outer * extent(inner) + inner, only in addresses, and in no inner loop. Example: the
// pixels and channels of a row, away from the borders. Then one loop suffices: outer is 0, and inner runs to the product of
// both extents.
bool walked_as_one(const Graph& g, std::span<const Id> stores, Id outer, Id inner);

}  // namespace kiln::compiler
