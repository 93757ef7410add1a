// What both tools make of `--in x=a.npy`, `--dims N=1000` and `--random`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/interp/array.h"

namespace kiln::generator {

// "name=value" pairs. A pair without name or `=`, or a name twice, is a Diagnostic E-usage.
std::map<std::string, std::string> named_values(const std::vector<std::string>& pairs, std::string_view option);
std::map<std::string, std::int64_t> named_integers(const std::vector<std::string>& pairs, std::string_view option);

// Small values that every dtype has exactly: k/256 in [-1, 1), integers in [-100, 100] (unsigned: [0, 100]). Same seed, same
// bytes.
compiler::Array random_array(compiler::DType d, std::vector<std::int64_t> extents, std::uint64_t seed);
// Of zeros; Diagnostic E-argument when the size is negative or does not fit.
compiler::Array zero_array(compiler::DType d, std::vector<std::int64_t> extents, const std::string& where);

// Runs a tool's work: 0, or the exit status for what it threw (65 rejected input, 70 internal, 73 and 74 as for Outputs, 75 out
// of memory), told on stderr.
int run_tool(const std::function<void()>& work);

}  // namespace kiln::generator
