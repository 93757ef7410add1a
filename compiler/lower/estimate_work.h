// estimate_work: estimates how long a kernel runs, so that the runtime can decide whether to use threads.
//
// Before: a kernel at K level.
// After: the kernel does not change. The result is an index expression over the program's symbols: the sum, over all
//   operations, of a rough cost times the extents of the ranges that the operation depends on. When the kernel is lowered,
//   kernel_time.h gives the time of this much work.
// Example: the sums of the rows of an M x N matrix  ->  1 + 2 * M + 3 * M * N, then (1 + 2 * M + 3 * M * N) // 60 nanoseconds
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id estimate_work(Graph& g, Id sink);

// The work in nanoseconds: the estimate, scaled so that it is `time` where symbols have typical values.
Id work_in_time(Graph& g, Id work, double time);

}  // namespace kiln::compiler
