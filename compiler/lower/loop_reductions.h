// loop_reductions: recognises loops that only combine values whose order does not matter.
//
// Before: in a kernel with one work item, a FOR whose every carried value is c = op(c, v) or c = WHERE(w, op(c, v), c). op is
//   a sum of integers, a minimum, a maximum, or AND or OR of truth values. v and w do not depend on carried values.
// After: the result is op(initial value, REDUCE of v), and where w is false v is the identity. The FOR is gone.
// Requires: K level. The loop has no effects and no loop inside, and runs from 0 to an end that depends only on symbols and is
//   never negative, as the end of a REDUCE.
// Why: a REDUCE has lanes (reduce_lowering); a FOR of one work item has none.
// Example: FOR i in 0..n { c = WHERE(x[i] > 0, c + 1, c) }  ->  c + REDUCE{WHERE(x[i] > 0, 1, 0), i} args {sum}
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id loop_reductions(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
