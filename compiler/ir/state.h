// States of memory. A state at kernel and program level is an ENTRY (the state when an iteration begins), a STORE or ATOMIC
// (the state after it), or a CARRY or GET of a loop that carries a state. In kernels that the program did not write,
// accesses name the BUFFER or LOCAL itself, and effects change it in their order.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The memory of a state: a BUFFER or LOCAL; no_id if the node is not a state. Each node stores it, because chains of states can
// be as long as a kernel.
inline Id memory_of(const Graph& g, Id state) { return g[state].memory; }

inline bool is_state(const Graph& g, Id id) { return memory_of(g, id) != no_id; }

// Whether the node is memory itself, and not a state of it.
inline bool is_memory(const Graph& g, Id id) { return g.op(id) == Op::BUFFER || g.op(id) == Op::LOCAL; }

// Whether a LOAD, STORE or ATOMIC names the memory, and not a state of it.
inline bool names_memory(const Graph& g, Id access) { return is_memory(g, g.state(access)); }

}  // namespace kiln::compiler
