// near_gathers: replaces gathers of elements that are near each other, at known distances, by contiguous loads and a shuffle.
//
// Before: a LOAD of lanes whose index is base + offset, with a constant offset for each lane that is no multiple of the lane's
//   number, as in x[i // 2]. The elements are within one vector, or each one is near the first or the last one of them, as in
//   x[(i - 1) % n] at the begin of a row. Its gate, if it has one, is a scalar condition and a constant one for each lane. Or a
//   WHERE whose condition is constant for each lane, as in i % 2 == 0.
// After: one or two contiguous LOADs, which read nothing beyond the first and the last element of the active lanes, and a
//   SHUFFLE. The WHERE is a SHUFFLE of its two values.
// Requires: loops are made, indices are exact.
// Why: a gather accesses memory once for each lane.
// Example: 8 lanes of x[(i + l + 1) // 2] for lane l, where i is a multiple of 8, read five elements from k = i // 2 on
//   ->  LOADs of x[k .. k + 3] and x[k + 1 .. k + 4], and SHUFFLE {0, 1, 1, 2, 2, 3, 3, 7}
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// alignment: the bounds of chunks are multiples of it (LoweredKernel).
Id near_gathers(Graph& g, Id sink, int alignment);

}  // namespace kiln::compiler
