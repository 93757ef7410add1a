// range_parts: cuts a range at the iteration in which a condition changes, as between two pieces of a concatenation.
//
// Before: stores of WHEREs between two values, whose condition compares the range with a boundary that is the same in all
//   iterations.
// After: the stores for range < boundary, over a range of their own, and the stores for the rest. The condition is constant
//   in each part, so the WHERE is gone, and so are the loads of the value that the part does not use.
// Requires: stores without loops, reductions lowered.
// Why: without a cut each vector loads from all pieces, under masks.
// Also: cuts a range of blocks behind the last whole block (whole_blocks).
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
  Id first = no_id;        // the iteration of the old range that is iteration 0 of the new one
  LoopPlan plan;           // of the new range
  bool is_border = false;  // a few iterations, whose inner loops are not worth cutting
};

// Whether the loop of this level of the plan may be cut. The stores must be plain stores without inner loops. The plan must
// have no blocks, no tiles, no copies that share loads, and no body with masks in every vector.
bool may_have_parts(const Graph& g, std::span<const Id> stores, std::span<const LoopPlan> plan, std::size_t level);

// Drops gates that always hold, and LOADs whose gates never hold.
Id without_known_gates(Graph& g, Id store);

// Two parts, which may be cut again, or none. plan: of the range. A part with constant extent has at least plan.step
// iterations.
std::vector<RangePart> range_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                   const Facts& facts);

// Whether the number of iterations of an inner loop depends on the range. Loops over min(n - size * range, size) elements do
// not count: these are the blocks of a reduction over n elements, of which only the last one may be shorter (numbers.md).
bool bounds_unequal_loops(const Graph& g, std::span<const Id> stores, Id range);

// The blocks of `size` elements, and the rest, whose plan has no copies. None if no inner loop is over such blocks.
std::vector<RangePart> whole_blocks(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                    const Facts& facts);

}  // namespace kiln::compiler
