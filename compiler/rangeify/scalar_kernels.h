// scalar_kernels: moves work on single elements outside of kernels into kernels with one work item.
//
// Before: FOR, UPDATE, ATOMIC, OLD and gated INDEX anywhere.
// After: writes only in KERNELs. A FOR outside of kernels remains if it works on whole tensors or contains kernels (see
//   scalar_loops.h). A new KERNEL has a state for each tensor that it writes, and a rank-0 state for each scalar that is used
//   after it. All values stay the same.
// Requires: a well-formed tensor-level program.
// Example: update y, true, v, i  ->  get (kernel r < 1: update (carry of y), true, v, i)
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void scalar_kernels(Graph& g, Program& p);

}  // namespace kiln::compiler
