// Makes random plans of kernels that obey check_plan.h. A kernel computes the same results with each of them.
#pragma once

#include <cstdint>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler::testing {

// Makers of equal seeds make equal plans if they are called for the same kernels in the same order.
PlanMaker random_plans(std::uint64_t seed);

}  // namespace kiln::compiler::testing
