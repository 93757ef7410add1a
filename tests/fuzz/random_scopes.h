// Random record tables with kernels, loops, conditions, breaks, variables, local arrays, elements, atomics and whole tensors,
// in and around kernels. They have integers only, and results do not depend on the order of work items. Every loop ends.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

tables::Tables random_scopes(std::uint64_t seed);

}  // namespace kiln::test
