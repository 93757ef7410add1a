// Proves the guard of a rule for the nodes that its variables are bound to: first by constants and bounds, then by polynomials.
#pragma once

#include "compiler/symbolic/template.h"

namespace kiln::compiler::symbolic {

// False means "not proven". n: the node at which the rule is tried; the RANGEs under it are inside their loops.
bool prove(RewriteContext& c, const Template& conjunct, const Match& m, Id n);

}  // namespace kiln::compiler::symbolic
