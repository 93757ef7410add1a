// clamp_parts: cuts a range at the iterations in which clamps of indices act, where only the call knows these iterations.
//
// Before: stores with lanes over a range r. An index of a STORE or LOAD is clamped: it contains MIN or MAX of r + d or d - r
//   and a bound. d and the bound depend neither on r nor on the loops inside. The clamp acts in iterations whose distance from
//   both ends of the range is unknown to the compiler; interior.h cuts off the others.
// After: three parts. The clamps act in no iteration of the middle part, and are gone there. The first and the last part keep
//   them, and have one loop each, with masks. In most calls these two parts have no iterations.
// Requires: stores without loops. `inner` has the plans of the loops inside of this level, `around` has the values
//   of the ranges outside of this level.
// Why: without clamps neighbouring lanes have neighbouring elements, or elements at an equal distance.
// Example: y[i] = x[max(min(i + s, N - 1), 0)] over i < M
//   ->  the same over i < -s; y[i] = x[i + s] over -s <= i < N - s; the same over N - s <= i < M
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/lower/range_parts.h"

namespace kiln::compiler {

// Three parts; none if there is no such clamp.
std::vector<RangePart> clamp_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                   std::span<const LoopPlan> inner, const std::unordered_map<Id, Id>& around,
                                   const Facts& facts);

}  // namespace kiln::compiler
