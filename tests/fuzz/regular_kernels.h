// Kernels whose work items access elements by regular patterns: pivots, halves, parities, shifts, triangles, tilings,
// permutations by affine maps. Most are free of races, some are not. The tensors are the ones of random_races, and squares. The
// same seed gives the same program.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

tables::Tables regular_kernel(std::uint64_t seed);

}  // namespace kiln::test
