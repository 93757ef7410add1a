// Random record tables with kernels, loops, conditions, breaks, variables, local arrays, elements and atomics: integers only,
// and what the positions of a kernel do does not depend on their order. Every loop ends.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

struct RandomScopes {
  tables::Tables tables;
  bool has_host_loops;  // loops around kernels
};

RandomScopes random_scopes(std::uint64_t seed);

}  // namespace kiln::test
