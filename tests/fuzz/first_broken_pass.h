// Names the pass that broke a program: after each one the program in its present form is evaluated, element by element.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::compiler::testing {

// "kernel_split: o1 element 3 ...", or "none: only the machine code differs".
std::string first_broken_pass(const std::string& text, std::uint64_t seed);

}  // namespace kiln::compiler::testing
