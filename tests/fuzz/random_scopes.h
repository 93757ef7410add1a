// Random record tables with kernels, loops, conditions, breaks, variables, local arrays, elements, atomics and whole tensors,
// in and around kernels: integers only, and what the positions of a kernel do does not depend on their order. Every loop ends.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

tables::Tables random_scopes(std::uint64_t seed);

}  // namespace kiln::test
