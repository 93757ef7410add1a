// stores_in_reductions: lets the loop of a reduction store the elements of a neighbouring tile step. reduce_lowering calls it.
//
// Before: a tile step with a striped REDUCE over r, and directly before or after it a tile step that stores one element for
//   each value of a range with the same end. Neither needs other elements of the other.
// After: the second tile step is gone. Its STOREs, over r, are in the map that reduce_lowering gets. A load of an element that
//   such a STORE has just stored is replaced by the value.
// Requires: K level, no INVALID. The REDUCE becomes one loop over vectors of 32 elements (striped_reduce.h). Each element of
// its
//   tile step needs it: no WHERE chooses between the REDUCE and another value.
// Ensures: each value is computed by the same operations in the same order.
// Why: both tile steps load the same elements, and may compute the same values from them. One loop does this once.
// Example: a[t] = sum of x[t * n + r]^2; y[t * n + i] = x[t * n + i] * 2   ->   one loop over r
// Literature: loop fusion.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct Lowering;

// By REDUCE: the STOREs that its loop makes.
using StoresInReductions = std::unordered_map<Id, std::vector<Id>>;

// Returns the tile steps that are left.
std::vector<Id> stores_in_reductions(Graph& g, const Lowering& k, StoresInReductions& stores);

}  // namespace kiln::compiler
