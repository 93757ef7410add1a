// drop_unit_ranges: replaces ranges of extent 1 by 0.
//
// Before: a kernel at K level.
// After: no LOOP range of the ENDs and no range of a reduction has the extent 1. Ranges of FORs stay.
// Requires: K level.
// Why: a loop of one iteration would hide the loop around it from the passes that choose lanes.
// Example: END(STORE(y, r0 + 4 * r1, v), r0 < 4, r1 < 1)  ->  END(STORE(y, r0 + 4 * 0, v), r0 < 4, 0)
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id drop_unit_ranges(Graph& g, Id sink);

// The RANGEs of the first END of a sink. All ENDs of one loop nest have the same RANGEs.
std::vector<Id> loops_of(const Graph& g, Id sink);

}  // namespace kiln::compiler
