// Scalar kernels. What: work on single elements outside of kernels becomes kernels of one position: loops without whole tensors
// and kernels in them, and writes and gated reads that stand alone. Before: FOR, UPDATE, ATOMIC and OLD anywhere. After: writes
// in KERNELs only; a FOR outside of kernels is a loop of kernels. What such a kernel computes are its states: the tensors that
// it writes, and its numbers. Precondition: a well-formed tensor-level program. Postcondition: the same values.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void scalar_kernels(Graph& g, Program& p);

}  // namespace kiln::compiler
