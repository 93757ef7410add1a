// Custom derivatives: expressions of the COTANGENT of a CUSTOM.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The derivative by operand `place` (1, 2, ...) of a CUSTOM whose adjoint is `adjoint`.
Id custom_adjoint(Rules& rules, Id custom, std::size_t place, Id adjoint);

// The COTANGENT of a CUSTOM.
Id cotangent_of(Rules& rules, Id custom);

}  // namespace kiln::compiler::autodiff
