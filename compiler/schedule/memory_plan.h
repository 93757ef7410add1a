// Memory plan. What: one arena for all temporaries. Two of them may share bytes when all kernels that touch the one have ended,
// by the dependencies, before any that touches the other begins; so kernels that may run at the same time never meet. Offsets
// are constants or polynomials of the symbols: the blocks are placed for typical values, and where a block lies above others it
// begins, for any values, at the sum's end of each (the polynomial with the larger coefficient of every term). Before:
// temporaries without offset. After: `offset` of each is an index expression over symbols, a multiple of 64; `workspace_bytes`
// is the arena's size. Precondition: dependencies are set. Postcondition: buffers that may be alive at the same time never
// overlap.
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
