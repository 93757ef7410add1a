// Proof of a rule's guard on the nodes its variables are bound to: by constants and bounds, then as polynomials.
#pragma once

#include "compiler/symbolic/template.h"

namespace kiln::compiler::symbolic {

// False means "not proven", never "false". `n`: the node the rule is tried at; its RANGEs are inside their loops.
bool prove(RewriteContext& c, const Template& conjunct, const Match& m, Id n);

}  // namespace kiln::compiler::symbolic
