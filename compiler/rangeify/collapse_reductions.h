// collapse_reductions: replaces reductions whose result is known without a loop by arithmetic.
//
// Before: REDUCE(value, RANGEs).
// After: the same value with fewer RANGEs, or with none. For a range r < N:
//   v, independent of r           N * v in sums, v^N in products (both of integers); v in max and min, the identity if N == 0
//   sum of (r < hi ? v : 0)       max(0, min(N, hi)) * v: conditions are solved for r, and the iterations are counted
//   sum of (r == i ? t[r] : 0)    t[i], loaded only if 0 <= i < N
//   sum of integers k*r + x       k*n*(first + last)/2 + n*x, over the n consecutive r that the conditions select
//   All bits stay the same. So a sum of floats collapses only if its terms are constants and each partial sum is exact, or
//   if at most one of its terms is not zero. No loop becomes longer.
// Requires: range_assignment has run.
// Why: lengths, masks, one-hot products and window counts cost a loop otherwise.
// Literature: closed forms of sums over an interval. tinygrad's names are reduce collapse and load collapse.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void collapse_reductions(Graph& g, Program& p);

}  // namespace kiln::compiler
