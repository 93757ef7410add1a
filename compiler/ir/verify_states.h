// The verifier's rule for the order of memory accesses in kernels. Internal to the verifier.
#pragma once

#include <span>

#include "compiler/ir/node_table.h"
#include "compiler/ir/verify.h"

namespace kiln::compiler {

std::span<const VerifyRule> state_rules();

// nodes: of a kernel, ascending. loop_of: by node, the innermost FOR around it; no_id: none. Requires: the kernel satisfies the
// rules of verify_loops.h. Throws E-verify.
void verify_states(const Graph& g, std::span<const Id> nodes, const NodeTable<Id>& loop_of);

}  // namespace kiln::compiler
