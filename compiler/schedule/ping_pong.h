// Ping-pong. What: a loop outside of kernels that computes u = f(u) into a temporary t and copies it back does without the
// copy: u and t change roles from turn to turn. Before: kernels in loops that copy whole buffers at the end of a turn. After:
// roles, buffers that are one of several others as a count of turns says, which the loop's kernels use; copies behind the loop,
// each in a loop of at most one turn, where the number of turns leaves in another buffer what somebody needs. Precondition:
// dependencies are set. Postcondition: the same values in all buffers that are used outside of the loop; a role is used in one
// loop only.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void ping_pong(Graph& g, Schedule& s);

}  // namespace kiln::compiler
