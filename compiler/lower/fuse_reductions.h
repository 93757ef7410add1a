// fuse_reductions: fuses the loops of reductions that load the same buffer over equal bounds.
//
// Before: FOR(range, begin, end, init.., yield..) and another FOR with the same begin, end and step in the same loops. Both
//   compute vectors and load from one buffer. Neither needs the result of the other. They may store elements that no reduction
//   loads (stores_in_reductions.h).
// After: one FOR with the carried values and the stores of both. Loops inside the two FORs are fused next, if their bounds are
//   equal now.
// Requires: reduce_lowering ran. There are enough registers for all carried vectors.
// Ensures: each value is computed by the same operations in the same order.
// Why: an element is loaded once for all reductions.
// Example: FOR(r, 0, n, 0, carry + x[r]), FOR(q, 0, n, 0, carry + x[q] * y[q])
//   ->  FOR(r, 0, n, 0, 0, carry0 + x[r], carry1 + x[r] * y[r])
// Literature: loop fusion.
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

Id fuse_reductions(Graph& g, Id sink, const Target& target);

}  // namespace kiln::compiler
