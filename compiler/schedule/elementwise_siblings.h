// elementwise_siblings: the part of sibling_kernels that joins a kernel of single elements to a kernel of a reduction.
//
// Before: kernel A has one LOOP range t and a striped REDUCE over r. Kernel C has no REDUCE. It has an iteration for each
//   element that A reads, and loads or stores elements that A loads: a gradient beside a loss, a residual beside its norm.
// After: one kernel with tile steps over t: the ENDs of C, over t and a range like r, and then the ENDs of A. The lowering
//   makes one loop of both (stores_in_reductions.h).
// Requires: split_reduce, an optional pass, ran, so that a long sum is a kernel over its blocks.
// Ensures: the same elements are computed from the same elements.
// Why: the elements come from memory once.
// Example: a[t] = sum of x[t * n + r]^2; y[i] = x[i] * 2   ->   for t: y[t * n + i] = x[t * n + i] * 2; a[t] = ..
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void elementwise_siblings(Graph& g, Schedule& s);

}  // namespace kiln::compiler
