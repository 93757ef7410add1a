// differentiate: replaces derivatives by the nodes that compute them.
//
// Before: any program at tensor level.
// After: the program has no GRADIENT, TANGENT, LAPLACIAN, MARK, STRAIGHT, CUSTOM and COTANGENT. All other values are unchanged.
// Requires: a well-formed tensor-level program. Throws E-grad for a derivative that does not exist.
// Example: y = sum (x * x); gradient y, 1, x  ->  add x, x
// Nodes are replaced in ascending order, so a derivative of a derivative finds plain nodes. Derivatives of one y with one
// cotangent share a sweep. Forward and reverse mode use one table of partial derivatives (partials.h), because two tables would
// disagree. Adjoints of contractions stay products as long as they are only moved (product.h). New nodes have the location of
// the node that they differentiate.
// Literature: Griewank, Walther, "Evaluating Derivatives"; Radul et al., "You Only Linearize Once" (2023).
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void differentiate(Graph& g, Program& p);

}  // namespace kiln::compiler
