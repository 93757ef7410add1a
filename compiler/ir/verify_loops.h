// The verifier's rules for RANGEs and FORs at kernel and program level: which nodes may use which values. Of the
// verifier, and of steps of lowering that would otherwise see malformed loops of a text.
#pragma once

#include <span>

#include "compiler/ir/verify.h"

namespace kiln::compiler {

std::span<const VerifyRule> loop_rules();

// Requires: each node satisfies the rules for single nodes, and the root is a SINK. Throws E-verify.
void verify_loops(const Graph& g, Id sink);

}  // namespace kiln::compiler
