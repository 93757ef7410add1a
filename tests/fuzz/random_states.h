// Random record tables of whole tensors that kernels update, while other tensors are computed from the states in between, in
// and around loops: copies, overwritten values, tensors that rotate, rows with sums, single elements. Integers only.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

tables::Tables random_states(std::uint64_t seed);

}  // namespace kiln::test
