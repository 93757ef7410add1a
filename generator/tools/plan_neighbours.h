// plan_neighbours: plans that differ from a plan by one change.
//
// Before: a kernel and a plan of it.
// After: legal plans (check_plan.h), each once and in a fixed order: other numbers of lanes, copies and rows, other blocks,
//   loops in another order, other tails, other alignment.
// Example: lanes 16  ->  lanes 8, lanes 32, lanes 16 in another loop, ...
#pragma once

#include <span>
#include <vector>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::generator {

std::vector<std::vector<compiler::LoopPlan>> plan_neighbours(const compiler::Graph& g, std::span<const compiler::Id> stores,
                                                             std::span<const compiler::Id> ranges,
                                                             std::span<const compiler::LoopPlan> plan,
                                                             const compiler::Target& target);

}  // namespace kiln::generator
