// Gives parameters random layouts.
#pragma once

#include <cstdint>

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// Makes some parameters of half of all programs pitched or strided.
void give_strides(Program& p, std::uint64_t seed);

}  // namespace kiln::compiler::testing
