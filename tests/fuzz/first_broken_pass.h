// Names the pass that broke a program: evaluates the program's form after each pass, element by element.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::compiler::testing {

// "kernel_split: o1 element 3 ...", or "none: only the machine code differs".
std::string first_broken_pass(const std::string& text, std::uint64_t seed);

}  // namespace kiln::compiler::testing
