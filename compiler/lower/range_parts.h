// range_parts: cuts a range where a condition chooses another value, as between two pieces of a concatenation.
//
// Before: stores of WHEREs between two values, whose condition compares the range with a boundary that is the same in all
//   iterations.
// After: the stores for range < boundary, over a range of their own, and the stores for the rest. The condition is constant in
//   each part, so the WHERE is gone and the loads of the other value, too.
// Requires: stores without loops, reductions lowered.
// Why: without a cut each vector loads from all pieces, under masks.
// Example: y[i] = i < A ? a[i] : b[i - A] over i < A + B  ->  y[i] = a[i] over i < A; y[A + i] = b[i] over i < B
#pragma once

#include <span>
#include <vector>

#include "compiler/lower/rewrite.h"
#include "compiler/lower/vectorize_plan.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct RangePart {
  std::vector<Id> stores;
  Id range = no_id;
  Id first = no_id;  // the iteration of the old range that is iteration 0 of the new one
};

// Whether the loops of a level of the plan may be cut: plain stores without inner loops, and no plan that names the range
// twice.
bool may_have_parts(const Graph& g, std::span<const Id> stores, std::span<const LoopPlan> plan, std::size_t level);

// Two parts, which may be cut again, or none. fewest: iterations of a part of constant extent.
std::vector<RangePart> range_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, Id range, int fewest,
                                   const Facts& facts);

}  // namespace kiln::compiler
