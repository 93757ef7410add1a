// dependencies: orders the kernels by the data that they load and store.
//
// Before: kernels without an order, by segment if the program has host loops.
// After: one list of kernels with their final names and HostLoops. Each kernel comes after the kernels in its depends_on.
//   A buffer with Buffer::after is merged with the buffer that the field names. States of segments become temporaries.
// Requires: kernel_split ran.
// Ensures: a kernel that overwrites a parameter loads from it only the element that it stores. Exception: kernels of the
//   program, whose loads and stores have an order of their own.
// Why: a load of an inout parameter means its value on entry. So the kernel that overwrites the parameter waits for every
//   kernel that loads it. No order achieves that if the kernel loads other elements than the one that it stores, or if two
//   kernels overwrite each other's operands. Then the kernel stores to a temporary, and a copy kernel at the end stores the
//   parameter.
//   A kernel that only copies an input for one reader waits for the kernels that its reader waits for. Else the copies of
//   all layers of a network would be live at the same time.
// Example: x[i] = x[i + 1]   ->   k0: t[i] = x[i + 1]   k1: x[i] = t[i], depends on k0
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void dependencies(Graph& g, Schedule& s);

// Indices into Schedule::buffers that a kernel loads from and stores to, ascending.
struct KernelAccess {
  std::vector<int> loads, stores;
};
KernelAccess access_of(const Graph& g, const Kernel& k);

}  // namespace kiln::compiler
