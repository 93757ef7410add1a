// own_elements: whether the iterations of a KERNEL that the program wrote plainly touch different elements of what they change.
// Of such kernels Z3 is asked the same; of others compiler/races alone has shown it, on the program. Each must keep to a block
// of its own: all accesses to a tensor that is written are at m * (row-major number of the iteration, its axes in some order) +
// rest, where the rests of all of them span fewer than m. Only adding and the like may meet anywhere, where nothing else reads
// or writes the tensor. Conservative: false also where it cannot be told.
#pragma once

#include <span>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// ranges: of the kernel, outermost first. K level, without atomics that serial_atomics replaces.
bool iterations_are_independent(Graph& g, Id sink, std::span<const Id> ranges, const Facts& facts);

}  // namespace kiln::compiler
