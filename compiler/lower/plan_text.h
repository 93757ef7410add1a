// plan_text: a plan of a kernel in words, for benchmarks and messages.
//
// Before: the LOOP ranges of a kernel and a plan for them (vectorize_plan.h).
// After: a line for each loop of the plan, outermost first. `i0` is the first range.
// Example: lanes of the second range inside copies of the first one  ->
//   i0 of 64: copies 6, tails 1
//   i1 of N: lanes 32, tails 32 masked
#pragma once

#include <span>
#include <string>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

std::string plan_text(const Graph& g, std::span<const Id> ranges, std::span<const LoopPlan> plan);

}  // namespace kiln::compiler
