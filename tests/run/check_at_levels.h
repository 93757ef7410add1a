// Compares a program's objects at the CPU levels of this machine with the interpreter, bit for bit. The first program of a
// process is compiled for every level, the others for one level each, in turn. With the environment variable KILN_ALL_CASES,
// which the long tests set, all programs are compiled for every level.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kiln::compiler::testing {

using Symbols = std::map<std::string, std::int64_t>;

// The levels of the next program.
std::vector<std::string> next_levels();

// Compares all outputs for random arguments, some of which are infinite, NaN or zeros of both signs, on one
// and on three workers. kernels: how many the program must
// have; 0: any number.
void check_at_levels(const std::string& text, const Symbols& symbols, int kernels = 0);

}  // namespace kiln::compiler::testing
