// even_lanes: finds the distance between neighbouring lanes of an access if only the call knows it.
//
// Before: LOADs and STOREs at a vector of indices that is no RAMP: the distance between its lanes is no constant, as in a
// column
//   of a matrix [N, M], or on a diagonal.
// After: if all neighbouring lanes have the same distance, the index is BROADCAST(first) + BROADCAST(distance) * RAMP{0}
//   args {1}, which access_of calls `even`. Lanes whose gate is false may have another index than before.
// Requires: loops are made, indices are exact.
// Why: the addresses of such lanes are sums of scalars. Vectors of 64-bit indices need several instructions for each product,
//   and one more for each lane that becomes an address.
// Example: 8 lanes of x[(i + lane) * M + j]  ->  first = i * M + j, distance = M
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id even_lanes(Graph& g, Id sink);

// Whether neighbouring lanes of a vector of indices have the same distance.
bool are_even(const Graph& g, Id index);

}  // namespace kiln::compiler
