// condition_loops: makes conditions of host loops of one iteration or none.
//
// Before: a schedule whose kernels are all in host loops from 0 to an extent that is 0 or 1 in each call, which only the call
//   decides: segments for some calls (component_versions). The program wrote no kernel.
// After: no such loop. The extent of the outermost range of each of its kernels has the loop's end as a factor, and so has the
//   size of each temporary that only they use.
// Requires: dependencies and product_versions ran. The latter knows a kernel by its extents.
// Ensures: the same kernels run. The first kernel behind a loop depends on all kernels before it, and the others on the first.
// Why: the fast path of a call (entry.h) runs kernels, but no loops.
// Example: for t < min(1, N): k0, which has N iterations   ->   k0, which has N * min(1, N) iterations
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void condition_loops(Graph& g, Schedule& s);

}  // namespace kiln::compiler
