// active_parts: leaves out the iterations of a range in which a kernel stores nothing.
//
// Before: stores that have a condition in common. The condition compares the range with a bound, or it is the same in all
//   iterations of the range. Neither the bound nor the condition depends on data or on the loops inside.
// After: the stores without this condition, over ranges of their own: the iterations before or behind a boundary, both for
//   `range != k`, or all or none.
// Requires: stores without loops. The ranges are a plan's, and `around` has the values of the ranges outside of this level.
// Why: a loop without a condition needs no masks. Half the iterations of a triangle do nothing.
// Example: for i < N, j < N: when (j <= i) y[i, j] = v  ->  for i < N, j < min(N, i + 1): y[i, j] = v
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/lower/range_parts.h"

namespace kiln::compiler {

// At most two parts; none if there is no such condition. range: of the plan. inside: the ranges of later levels.
std::vector<RangePart> active_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                    std::span<const LoopPlan> inside, const std::unordered_map<Id, Id>& around,
                                    const Facts& facts);

}  // namespace kiln::compiler
