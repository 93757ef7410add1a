// estimate_work: how much a kernel computes, so that the runtime can decide on threads.
//
// The sum, over the operations of the kernel, of a rough cost times the extents of the ranges that the operation depends on.
// precondition: K level. The result is an index expression over the program's symbols.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id estimate_work(Graph& g, Id sink);

}  // namespace kiln::compiler
