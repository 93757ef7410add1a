// split_reduce: splits a long reduction to one value, so that threads can share it.
//
// Before: a kernel with one iteration, STORE(y, 0, f(REDUCE over r of v)).
// After, if v contains a REDUCE for each r (the rows of an image): a new kernel stores t[r] = v, and the REDUCE loads t.
// After, if the order is striped and r is long: a new kernel stores t[b] = the striped REDUCE of block b of 65536 values. A
//   striped REDUCE of the same kind combines t. Exception: the results of dot, a sum of products of two values, are combined by
//   a sum. That is by definition the order of the whole striped REDUCE (docs/reference/numbers.md).
//   f16 and bf16 blocks are stored as f32, because a reduction rounds once.
// Requires: kernel_split ran. simplify_ranges, an optional pass, runs before this one. A reduction that is never long stays.
// Ensures: the same bits.
// Example: y = sum of x[0 .. N]   ->   t[b] = sum of x[b*65536 .. min(N, (b + 1)*65536)]; y = sum of t
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void split_reduce(Graph& g, Schedule& s);

}  // namespace kiln::compiler
