// group_bounds: shortens a loop over the positions of a group to the positions that do something.
//
// Before: a FOR over positions t. All its STOREs and ATOMICs to shared memory have a condition in common: t < n, t <= n or t ==
//   n, with the same n for all positions.
// After: the FOR ends at n or n + 1, and the condition is gone. For t == n the FOR also begins at n. A FOR that does not begin
//   at 0 has at most one iteration.
// Requires: K level.
// Example: FOR t in 0..256 { when (t < half) a[t] += a[t + half] }  ->  FOR t in 0..min(256, half) { a[t] += a[t + half] }
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// range: the RANGE of the FOR.
Id group_bounds(Graph& g, Id sink, Id range);

}  // namespace kiln::compiler
