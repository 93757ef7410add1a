// Arguments of programs for kiln-opt and kiln-run, from `--in x=a.npy`, `--dims N=1000` and `--random`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/interp/array.h"

namespace kiln::generator {

// Splits "name=value" pairs. Diagnostic E-usage for a pair without name or `=`, and for a name that occurs twice.
std::map<std::string, std::string> named_values(const std::vector<std::string>& pairs, std::string_view option);
std::map<std::string, std::int64_t> named_integers(const std::vector<std::string>& pairs, std::string_view option);

// Small values that every dtype represents exactly: k/256 in [-1, 1), integers in [-100, 100] (unsigned: [0, 100]). The bytes
// depend only on the seed.
compiler::Array random_array(compiler::DType d, std::vector<std::int64_t> extents, std::uint64_t seed);
// An array of zeros. Diagnostic E-argument if the size is negative or too large.
compiler::Array zero_array(compiler::DType d, std::vector<std::int64_t> extents, const std::string& where);

// Runs a tool's work and returns the exit status: 0, or the status for the exception (64 wrong usage, 65 rejected input, 70
// internal, 73 and 74 as for Outputs, 75 out of memory), whose text is printed on stderr.
int run_tool(const std::function<void()>& work);

}  // namespace kiln::generator
