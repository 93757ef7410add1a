// sum_atomics: atomic operations on an element that does not change in a loop, or along an axis of a kernel -> a value that the
// loop carries, and one operation.
//
// Before: KERNEL over (i, j) whose only effects are ATOMICs on elements that do not depend on i; FOR in a KERNEL that carries a
// state and does nothing with it but one such ATOMIC, whose old value nobody wants. After: KERNEL over j with a FOR over i;
// FOR with a number in the place of the state, and the ATOMIC behind it. Where each position of the kernel has an element of
// its own, the sum begins with that element and replaces it. Precondition: tensor level, host_loops has run. Postcondition: the
// same bits: floats are added in the order of the positions, or stay as they are.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void sum_atomics(Graph& g, Program& p);

}  // namespace kiln::compiler
