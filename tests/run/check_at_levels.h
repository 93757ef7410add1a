// Compares a program's objects at every CPU level of this machine with the interpreter, bit for bit.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kiln::compiler::testing {

using Symbols = std::map<std::string, std::int64_t>;

// Compares all outputs for random arguments, some of which are infinite, NaN or zeros of both signs, on one
// and on three workers. kernels: how many the program must
// have; 0: any number.
void check_at_levels(const std::string& text, const Symbols& symbols, int kernels = 0);

}  // namespace kiln::compiler::testing
