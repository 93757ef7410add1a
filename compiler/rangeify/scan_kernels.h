// scan_kernels: replaces scans of tensors by kernels with a loop along the axis. range_assignment calls it.
//
// Before: SCAN{x} args {kind, axis, exclusive, reversed}.
// After: no SCAN of a tensor. A KERNEL over the other axes has a FOR over the axis. Its body stores SCAN{value, RANGE} args
//   {kind, exclusive}, the reduction of the values of the iterations so far. The order of the axis (reversed) is in the
//   indices. f16 and bf16 are f32 inside of the SCAN. Elementwise operations that only the scan reads, and movement operations,
//   are part of the value.
// Requires: graph_cleanup and small_vectors have run.
// Why: a loop that carries a value and stores in each iteration is what kernels of the program are, so no pass over kernels of
//   the compiler, which have no order, needs to know scans. scan_lowering knows the order of the elements.
// Example: scan x, sum, axis 1  ->  KERNEL i { FOR r { y[i, r] = SCAN{x[i, r], r} } }
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void scan_kernels(Graph& g, Program& p);

}  // namespace kiln::compiler
