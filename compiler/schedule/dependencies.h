// Dependencies. What: orders kernels by the data they touch. Read after write: the reader of a buffer waits for its writer.
// Write after read: a parameter's value is the one at entry, so the kernel that overwrites it waits for every kernel that reads
// it; where no order can do that (the kernel itself reads other elements than the one it writes, or kernels that overwrite
// parameters read each other's) the new value goes to a temporary first and a copy kernel ends the program. Before: kernels
// without edges. After: depends_on set, kernels in such an order, numbered and named in it. Precondition: kernel split ran.
// Postcondition: only a kernel that writes an element may read it in place, at the same index.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void dependencies(Graph& g, Schedule& s);

// Program buffers that a kernel loads from and stores to, ascending.
struct KernelAccess {
  std::vector<int> loads, stores;
};
KernelAccess access_of(const Graph& g, const Kernel& k);

}  // namespace kiln::compiler
