// clamp_parts: cuts a range at the iterations in which clamps of indices act, where only the call knows these iterations.
//
// Before: stores with lanes over a range. Their indices, or those of LOADs, have MIN or MAX of the range, once or negated, and
// a
//   bound that is the same in all iterations. Where they act is no constant distance from an end of the range (interior.h).
// After: the iterations before, inside and behind. Inside no such MIN or MAX acts, and they are gone. The iterations before and
//   behind keep them. They have one loop each, with masks. Most calls have none.
// Requires: stores without loops. `around` has the values of the ranges outside of this level.
// Why: without clamps neighbouring lanes have neighbouring elements, or elements at an equal distance.
// Example: y[i] = x[max(min(i + s, N - 1), 0)] over i < M  ->  the same over i < -s; y[i] = x[i + s] over -s <= i < N - s; and
// the
//   same as before over N - s <= i < M
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/lower/range_parts.h"

namespace kiln::compiler {

// Three parts; none if there is no such clamp.
std::vector<RangePart> clamp_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                   const std::unordered_map<Id, Id>& around, const Facts& facts);

}  // namespace kiln::compiler
