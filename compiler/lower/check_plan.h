// check_plan: the rules that every plan of a kernel obeys, whoever made it.
//
// Before: STOREs over LOOP ranges; reductions are FORs without effects. A plan for them (vectorize_plan.h).
// After: the first rule that the plan breaks, in words; empty: it breaks none, so loop_nest makes code that computes the same
//   bits as one iteration after the other.
// Requires: reduce_lowering ran.
// Example: two loops with lanes  ->  "two loops have lanes"
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

std::string check_plan(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::span<const LoopPlan> plan);

bool all_stores_have_stride(const Graph& g, std::span<const Id> stores, Id range, std::int64_t stride);

// Why the range cannot become lanes, with stores `stride` elements apart; empty: it can.
std::string_view why_no_lanes(const Graph& g, std::span<const Id> stores, Id range, std::int64_t stride);

}  // namespace kiln::compiler
