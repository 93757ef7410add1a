// Random kernels of integers, as record tables: work items store, read and change elements at random places under random
// conditions, also in workgroups. The same seed gives the same program.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

inline constexpr std::uint64_t race_data = 2;          // slot of the input of N numbers; lower slots are scalars
inline constexpr std::int64_t shared_array_size = 32;  // extent of the array that the work items of a workgroup share

tables::Tables random_races(std::uint64_t seed);

}  // namespace kiln::test
