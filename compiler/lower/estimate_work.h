// estimate_work: estimates how much a kernel computes, so that the runtime can decide whether to use threads.
//
// Before: a kernel at K level.
// After: the kernel does not change. The result is an index expression over the program's symbols: the sum, over all
//   operations, of a rough cost times the extents of the ranges that the operation depends on.
// Example: the sums of the rows of an M x N matrix  ->  1 + 2 * M + 3 * M * N
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id estimate_work(Graph& g, Id sink);

}  // namespace kiln::compiler
