// Layouts of parameters by chance.
#pragma once

#include <cstdint>

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// Half of all programs: makes some parameters pitched or strided.
void give_strides(Program& p, std::uint64_t seed);

}  // namespace kiln::compiler::testing
