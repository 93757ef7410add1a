// share_kernels: gives one sink to kernels that differ only in their memory.
//
// Before: kernels with their own numbers of buffers and ranges. Some load inputs at constant offsets, for example the weights
//   of layer 7 in a tensor of all layers.
// After: buffers are numbered in the order of the kernel's nodes, ranges from 0. Equal kernels have the same sink, so they are
//   lowered and emitted once. If only an offset into an input differs (a constant or a polynomial of extents), the kernels load
//   from a view: a buffer with a parameter and an offset.
// Requires: memory_plan ran, because memory_plan does not know views.
// Ensures: the same values. Views come last in the schedule's buffers, and are only loaded from.
// Example: k0: load w[i], k1: load w[25 + i]   ->   one sink with load b[i]; b is w for k0, a view of w from element 25 for k1.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void share_kernels(Graph& g, Schedule& s);

}  // namespace kiln::compiler
