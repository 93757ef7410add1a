// kernel_time: predicts how long a lowered kernel runs on one core.
//
// Before: a kernel at P level, so a plan has become loops. The target; nothing of the machine that compiles.
// After: nanoseconds. They are meant for comparisons: of plans of one kernel, and of a kernel with the cost of threads. Time of
//   instructions (turn_cost.h) and of memory (cache_traffic.h) overlap. Symbols have typical values (loop_counts.h), and arrays
//   that fit a cache are there when the kernel begins.
// Throws E-verify if a text has malformed loops.
// Compare: docs/reference/plans.md has measured figures.
#pragma once

#include "compiler/ir/schedule.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

double kernel_time(const Graph& g, const LoweredKernel& kernel, const Target& target);

}  // namespace kiln::compiler
