// Random record tables of whole tensors that kernels update while other tensors are computed of the states between, in and
// around loops: copies and overwritten values, tensors that change places, rows with sums, single elements. Integers only.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

tables::Tables random_states(std::uint64_t seed);

}  // namespace kiln::test
