// split_stripes: computes the stripes of a sum down the columns of a matrix in a kernel of their own.
//
// Before: a kernel over (.., j) with one REDUCE of floats over k, in striped order and long, no max or min. A LOAD of its
//   values is contiguous in j, and its neighbours in k are far apart. No loop of the kernel reads the same elements again.
// After: a new kernel stores t[.., b, s, j] = the sequential REDUCE over the positions s, s + 32, s + 64, .. of block b of
//   65536 positions. The kernel combines t[.., b, 0 .. 31, j] in the order of docs/reference/numbers.md. If the number of
//   positions is known and no multiple of 32, the kernel adds the last ones to their stripes. If there may be more than one
//   block, another kernel does that for each block, and a striped REDUCE over b combines the blocks.
// Requires: kernel_split ran. simplify_ranges, an optional pass, runs before this one.
// Ensures: the same bits.
// Why: a kernel that goes down the columns with 32 accumulators for each column has registers for few columns, and reads a
//   short part of each row. The new kernel has one accumulator for each column, so it reads long parts of rows.
// Example: y[j] = dot over k of w[k, j] and x[k]   ->   t[s, j] = sum over q of w[32 * q + s, j] * x[32 * q + s];
//   y[j] = (t[0, j] + t[16, j]) + ..
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void split_stripes(Graph& g, Schedule& s);

}  // namespace kiln::compiler
