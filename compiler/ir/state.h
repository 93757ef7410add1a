// States of memory. At kernel and program level a state is an ENTRY (of an iteration), a STORE or ATOMIC (after it), or a CARRY
// or GET of a loop that hands a state on. In kernels that the program did not write, BUFFERs stand for the only state.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The memory of a state: BUFFER or LOCAL; no_id when the node is not a state. States come in chains as long as a kernel, so
// each node has the answer since it was made.
inline Id memory_of(const Graph& g, Id state) { return g[state].memory; }

inline bool is_state(const Graph& g, Id id) { return memory_of(g, id) != no_id; }

}  // namespace kiln::compiler
