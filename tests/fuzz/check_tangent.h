// Checks the derivatives of one random_tangent program against differences, each other, and the values without derivatives.
#pragma once

#include <string>

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

struct TangentFigures {
  std::uint64_t programs = 0, compared = 0, kinks = 0, gradients = 0;
};

// "value 3: expected 1.5, got 2.5".
std::string difference(const char* what, std::size_t k, double got, double expected);

// Empty if everything agrees. text: receives the program.
std::string check_tangent(std::uint64_t seed, bool compiled, TangentFigures& figures, std::string& text);

}  // namespace kiln::compiler::testing
