// Collapse reductions. What: a reduction whose elements are known without its loop becomes arithmetic. Its value is split into
// choices (WHERE, a cast bool, and sums of integers), each taken for the iterations that a condition selects; comparisons of
// positions are solved for the range, so the iterations are counted: sum of (r < hi ? v : 0) is max(0, min(N, hi)) * v. A
// choice that one iteration takes (r == i) is the element at i, loaded where 0 <= i < N. A range that the value does not use
// leaves integers times N, products to the power of N, and for max and min the value, or their identity when N is 0. What is
// left of a sum of integers stays a loop. Before: REDUCE(value, RANGEs). After: the same value, fewer RANGEs. Only what keeps
// every bit is done: sums of floats collapse where each partial sum is exact (constants) or where at most one element is not 0.
// Precondition: range assignment ran. Postcondition: the same bits; a loop never becomes longer.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void collapse_reductions(Graph& g, Program& p);

}  // namespace kiln::compiler
