// serial_atomics: atomic operations that the machine does not do in one instruction, or whose result depends on their order ->
// load, operation, store.
//
// before: ATOMIC and OLD. after: those of integers whose old value nobody wants stay; if there are others, all of the kernel
// become LOAD and STORE. precondition: K level. postcondition: with the iterations in order the results are those of the
// program; needs_order says that they must be.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether the iterations of the kernel must run one after another.
bool needs_order(const Graph& g, Id sink);
Id serial_atomics(Graph& g, Id sink);

}  // namespace kiln::compiler
