// collapsed_by_assumption: gives a reduction its closed form for small extents, and keeps its loop for larger ones.
//
// Before: a REDUCE whose closed form is exact only if its extents are below a limit. An i32 holds indices up to 2^31 - 1. An
//   f32 counts ones up to 2^24. An extent without a declared maximum may be larger.
// After: WHERE(the extents are small, closed form, REDUCE over a range that is empty if the extents are small).
// Requires: collapsed() without an assumption has left the REDUCE as it is.
// Example: the sum of r over r < N in i64, where N has the default maximum 2^40, becomes
//   WHERE(N <= 2^30, N*(N - 1)/2, sum of r over r < min(N, min(N // (2^30 + 1), 1) * 2^40))
//   The end of that loop is 0 if N <= 2^30, else N.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// The value in that form; `reduce` itself if no assumption about the extents helps.
Id collapsed_by_assumption(Graph& g, const Facts& facts, Id reduce);

}  // namespace kiln::compiler
