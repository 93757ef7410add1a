// Memory plan. What: one arena for all temporaries. Two of them may share bytes when all kernels that touch the one have ended,
// by the dependencies, before any that touches the other begins; so kernels that may run at the same time never meet. Offsets
// are constants, polynomials of the symbols, or maxima of a few: the blocks are placed for typical values, and a block that
// lies above others there begins, for any values, where the last of them ends. Before: temporaries without offset. After:
// `offset` of each is an index expression over symbols, a multiple of 64; `workspace_bytes` is the arena's size. Precondition:
// dependencies are set. Postcondition: buffers that may be alive at the same time never overlap. Programs of thousands of
// kernels get a simpler plan (memory_in_order).
#pragma once

#include "compiler/ir/program.h"
#include "compiler/schedule/placement.h"

namespace kiln::compiler {

void memory_plan(Graph& g, Schedule& s);

// The plan's problem for typical values of the symbols: blocks are the buffers in `buffers`.
struct MemoryProblem {
  std::vector<std::size_t> buffers;
  PlacementProblem placement;
};
MemoryProblem memory_problem(Graph& g, const Schedule& s);

}  // namespace kiln::compiler
