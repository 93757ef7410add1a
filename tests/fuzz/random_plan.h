// Plans of kernels at random, among those that check_plan.h accepts. No plan changes a result.
#pragma once

#include <cstdint>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler::testing {

// Kernel after kernel, in the order of the calls: the same plans for the same seed.
PlanMaker random_plans(std::uint64_t seed);

}  // namespace kiln::compiler::testing
