// Kernels whose positions take elements in a regular way: pivots, halves, parities, shifts, triangles, tilings, permutations by
// affine maps. Most are free of races, some are not. The tensors are those of random_races, with squares. The same seed gives
// the same program.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

tables::Tables regular_kernel(std::uint64_t seed);

}  // namespace kiln::test
