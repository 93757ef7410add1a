// The memory and the elements of a LOAD, STORE or ATOMIC.
#pragma once

#include <llvm/Support/Alignment.h>

#include "compiler/ir/state.h"
#include "compiler/lower/access.h"

namespace kiln::compiler {

inline Id memory_at(const Graph& g, Id access) { return memory_of(g, g.state(access)); }

inline DType element(const Graph& g, Id node) { return g.dtype(memory_at(g, node)); }

inline int access_lanes(const Graph& g, Id node) { return g.op(node) == Op::LOAD ? g.lanes(node) : g.lanes(value_of(g, node)); }

inline llvm::Align alignment(const Graph& g, Id node) {
  return llvm::Align(static_cast<std::uint64_t>(bytes(element(g, node))));
}

}  // namespace kiln::compiler
