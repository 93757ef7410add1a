// Random kernels of integers, as record tables: positions that store, read and change elements at random places under random
// conditions, also in groups. The same seed gives the same program.
#pragma once

#include <cstdint>

#include "tests/unit/generator_tables.h"

namespace kiln::test {

inline constexpr std::uint64_t race_data = 2;         // the slot of the input of N numbers; those below are numbers
inline constexpr std::int64_t group_array_size = 32;  // the array that the positions of a group share

tables::Tables random_races(std::uint64_t seed);

}  // namespace kiln::test
