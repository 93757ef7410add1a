// plan_text: a plan of a kernel in words, for benchmarks, messages and tuning files.
//
// Before: the LOOP ranges of a kernel and a plan for them (vectorize_plan.h).
// After: a line for each loop of the plan, outermost first. `i0` is the first range.
// Example: lanes of the second range inside copies of the first one  ->
//   i0 of 64: copies 6, tails 1
//   i1 of N: lanes 32, tails 32 masked
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

std::string plan_text(const Graph& g, std::span<const Id> ranges, std::span<const LoopPlan> plan);

// The lines as one, for messages.
std::string in_one_line(std::string plan);

// The words for LoopPlan::streams.
inline constexpr std::string_view rows_are_large = "if the rows are large";

// Reads such lines, but not their numbers of iterations ("of 64"). streams: the LOAD whose rows the words "if the rows are
// large" mean. If streams is no_id, these words are a mistake. The result describes the first mistake; "" is none.
std::string read_plan(std::span<const Id> ranges, Id streams, std::string_view text, std::vector<LoopPlan>& plan);

}  // namespace kiln::compiler
