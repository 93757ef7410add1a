// sum_atomics: replaces atomic operations on an element that stays the same in a loop, or along an axis of a kernel, by a value
// that the loop carries and one operation after the loop.
//
// Before: (1) a KERNEL over (i, j) whose only effects are ATOMICs on elements that do not depend on i, or (2) a FOR in a KERNEL
//   that carries a state only for one such ATOMIC. OLD of the ATOMIC is not used.
// After: (1) a KERNEL over j with a FOR over i in it. If each element belongs to exactly one work item of that KERNEL, the sum
//   starts with the element, and an UPDATE replaces the ATOMIC. (2) A FOR that carries a number instead of the state, and the
//   ATOMIC after it. The FOR also carries whether the number has a term, and this bool is the gate of the ATOMIC.
//   All bits stay the same. An ATOMIC that adds floats is replaced only by such an UPDATE, because one work item then adds the
//   terms in row-major order.
// Requires: tensor level; host_loops has run.
// Example: kernel (i, j): y[j] += x[i, j]  ->  kernel (j): s = y[j]; for i: s += x[i, j]; y[j] = s
// Literature: scalar promotion of a memory reduction, as in loop-invariant code motion.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void sum_atomics(Graph& g, Program& p);

}  // namespace kiln::compiler
