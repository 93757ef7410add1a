// Random programs with loops and kernels, and their derivatives in forward mode.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

// A value y of x, both f64 [n], and its derivatives by x, or by a value that equals x. Parameters: x, directions u and v, two
// directions as one tensor [2, n], integers. Outputs: y; the tangents of y along u and along v; both at once, [2, n]; the
// tangent of the tangent along u along v.
struct TangentProgram {
  Program program;
  int x = 0, u = 1, v = 2, both = 3;
  Id y = no_id, by = no_id;  // the values of the derivatives
  int value = -1, along_u = -1, along_v = -1, along_both = -1, second = -1;
};

TangentProgram random_tangent(Graph& g, std::uint64_t seed);

}  // namespace kiln::compiler::testing
