// States of memory. At kernel and program level a state is an ENTRY (of an iteration), a STORE or ATOMIC (after it), or a CARRY
// or GET of a loop that hands a state on. In kernels that the program did not write, BUFFERs stand for the only state.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The memory of a state: BUFFER or LOCAL; no_id when the node is not a state.
inline Id memory_of(const Graph& g, Id state) {
  for (;;) switch (g.op(state)) {
      case Op::BUFFER:
      case Op::LOCAL: return state;
      case Op::ENTRY:
      case Op::STORE:
      case Op::ATOMIC: state = g.src(state, 0); break;
      case Op::CARRY: state = g.src(state, 1); break;
      case Op::GET: {
        const Id loop = g.src(state, 0);
        if (g.op(loop) != Op::FOR) return no_id;
        state = g.src(loop, 3 + static_cast<std::size_t>(g.arg(state, 0)));
        break;
      }
      default: return no_id;
    }
}

inline bool is_state(const Graph& g, Id id) { return memory_of(g, id) != no_id; }

}  // namespace kiln::compiler
