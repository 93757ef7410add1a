// workgroup_bounds: shortens a loop over the work items of a workgroup to the work items that do something.
//
// Before: a FOR over work items t. All its STOREs and ATOMICs to shared memory have a condition in common: t < n, t <= n or
//   t == n, with the same n for all work items.
// After: the FOR has only the iterations in which the condition holds, and the condition is gone. With t == n the FOR has at
//   most one iteration. A FOR without such a condition does not change.
// Requires: K level.
// Example: FOR t in 0..256 { when (t < half) a[t] += a[t + half] }  ->  FOR t in 0..min(256, half) { a[t] += a[t + half] }
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// range: the RANGE of the FOR.
Id workgroup_bounds(Graph& g, Id sink, Id range);

}  // namespace kiln::compiler
