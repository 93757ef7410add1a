// whole_workgroups: gives whole workgroups code of their own, in which the number of work items is constant.
//
// Before: a kernel with workgroups. Its loops over work items end at MIN(size, left), where `left` counts the work items
//   from the first one of the workgroup to the end of the axis.
// After: the body twice, in loops that have one iteration or none. The first runs if the workgroup is whole: its loops over
//   work items end at the size. The second runs otherwise. A kernel with large arrays does not change.
// Requires: K level.
// Why: only the last workgroup of an axis can be smaller. With a constant number of work items the loops between barriers need
//   no tails, and short ones become straight code.
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

Id whole_workgroups(Graph& g, RangeIds& loops, Id sink);

}  // namespace kiln::compiler
