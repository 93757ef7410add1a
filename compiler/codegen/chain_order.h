// chain_order: the order in which the values of stores that share loads are computed.
//
// Before: plain STOREs of one scope, whose values are long chains of operations, such as the sums of windows. The chains load
//   the same elements, but each only in some of its steps.
// After: steps of the chains by turns, so that each element is loaded once and its register is soon free. The next step is
//   that of the first chain which waits for the fewest loads.
// Why: one chain after the other keeps all shared elements in registers, or on the stack if they are more, and each operation
//   waits for the one before.
// Example: a = w0 * x0 + w1 * x1 + w2 * x2 and b = w0 * x1 + w1 * x2 + w2 * x3
//   ->  a's step with x0; x1: a, b; x2: a, b; x3: b
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/loop_scopes.h"

namespace kiln::compiler {

// The effects in their order. Before the stores of a group of chains come the chains' steps.
std::vector<Id> chain_order(const Graph& g, const Scopes& scopes, std::span<const Id> effects, std::int32_t scope);

}  // namespace kiln::compiler
