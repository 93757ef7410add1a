// serial_atomics: replaces atomic operations by load, operation, store if the result depends on their order or the
// machine lacks the instruction.
//
// Before: ATOMIC and OLD (the value before an ATOMIC).
// After: no OLD. The ATOMICs of a kernel stay if all are on integers, none is an exchange or compare_exchange, and no OLD
//   exists. Otherwise all become LOAD and STORE; needs_order() says that the iterations must then run one after the other.
// Requires: K level.
// Example: ATOMIC add on f32 (a, i, v)  ->  STORE(a, i, ADD(LOAD(a, i), v))
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether the iterations of the kernel must run one after another.
bool needs_order(const Graph& g, Id sink);
Id serial_atomics(Graph& g, Id sink);

}  // namespace kiln::compiler
