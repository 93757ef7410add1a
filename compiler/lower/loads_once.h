// loads_once: in kernels that the program wrote, loads an element that all iterations of the innermost loop use before this
// loop.
//
// Before: LOADs from the state at the begin of an iteration, at an index that does not depend on the last range.
// After: the same LOADs from the state at the begin of the loop around it, under the condition that the loop has an iteration.
// Requires: the iterations are independent, so no iteration stores an element that another one loads. Stores without loops.
// Why: the loop also stores to the tensor, so LLVM would load the element in each iteration.
// Example: for i: for j: w[i, j] -= w[i, k] * w[k, j]  ->  for i: c = w[i, k]; for j: w[i, j] -= c * w[k, j]
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// last: the range of the innermost loop.
std::vector<Id> loads_once(Graph& g, std::span<const Id> stores, Id last);

}  // namespace kiln::compiler
