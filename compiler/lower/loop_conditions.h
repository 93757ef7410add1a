// loop_conditions: makes a condition that no iteration changes a part of the loop's end.
//
// Before: a kernel that the program wrote. A loop inside of a `when` is a FOR with a condition: carried value 0 begins with the
//   condition of the `when`, and each iteration yields it unchanged.
// After: such a FOR has no condition and one carried value less. Its end is WHERE(condition, end, begin), and in its body the
//   condition is true. A FOR whose value 0 is read behind the loop is unchanged.
// Requires: K level.
// Why: the passes that make lanes, blocks and reductions of loops take counted loops only.
// Example: FOR j in 0..n while c { c, s + x[j] }  ->  FOR j in 0..(c ? n : 0) { s + x[j] }
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id loop_conditions(Graph& g, Id sink);

}  // namespace kiln::compiler
