// The memory plan of programs with so many kernels that comparing each with each is out of the question: linear.
//
// before: temporaries without a place. after: each has a block of the arena. Buffers take theirs in the order in which kernels
// begin to use them: a block of the same size whose last users have all ended before, if there is one, else a new block on top.
// postcondition: that of memory_plan; the arena may be larger, since blocks are neither divided nor joined and an order between
// kernels that lie far apart is not always seen.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void memory_in_order(Graph& g, Schedule& s);

}  // namespace kiln::compiler
