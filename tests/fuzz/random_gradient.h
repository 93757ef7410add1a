// Random programs with derivatives.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// A value y of f64 values x1, x2, ..., and its derivatives. An x is a parameter, or a parameter in another shape.
struct GradientProgram {
  Program program;
  Id y = no_id;
  std::vector<Id> xs, parameters;  // each x, and its parameter
  std::vector<int> v, u;           // the slots of two directions for each
  int c = -1;                      // the slot of the cotangent
  // Outputs: y; for each x the gradient of y with cotangent c; the tangent of y along v; then of each of those gradients the
  // tangents along v and along u.
  int value = -1, gradient = -1, tangent = -1, second_v = -1, second_u = -1;
};

GradientProgram random_gradient(Graph& g, std::uint64_t seed, bool symbolic);

}  // namespace kiln::compiler::testing
