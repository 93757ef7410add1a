// Memory plan. What: one arena for all temporaries. Buffers of static size share memory when their lifetimes, first writer to
// last reader in kernel order, do not meet; buffers of symbolic size follow one after the other behind them. Before:
// temporaries without offset. After: `offset` of each is an index expression over symbols, a multiple of 64; `workspace_bytes`
// is the arena's size. Precondition: kernels stand in the order in which they run, one after the other. Postcondition: two
// buffers that are alive in one kernel never overlap.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void memory_plan(Graph& g, Schedule& s);

}  // namespace kiln::compiler
