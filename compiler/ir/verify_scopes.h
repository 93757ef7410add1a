// The verifier's rules for loops, kernels and states at tensor level. Internal to the verifier.
#pragma once

#include <span>

#include "compiler/ir/verify.h"

namespace kiln::compiler {

std::span<const VerifyRule> scope_rules();

// Requires: each node satisfies the rules for single nodes. Throws E-verify.
void verify_scopes(const Graph& g, std::span<const Id> roots);

}  // namespace kiln::compiler
