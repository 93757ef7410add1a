// mask_loops: loops that may end at another turn in each lane -> loops that run while any lane is active.
//
// before: FORs whose bounds or condition depend on `lanes`. after: each has `while` form, its carried value 0
// says whether the lane is active; carried values of a lane that is not stay as they are, and its accesses are gated. Where the
// beginning differs between lanes, the loop counts turns from 0. `lanes` is a range of the kernel or, with its own FOR, of a
// loop: then only the loops inside are changed. precondition: scalar code, K level. postcondition: the same results as before,
// lane by lane or one at a time; loop bounds do not depend on `lanes`.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

Id mask_loops(Graph& g, LoopIds& loops, Id sink, Id lanes);

}  // namespace kiln::compiler
