// The verifier's rules for the statements of a schedule: symbols, parameters, buffers, loops, segments, kernels. Internal to
// the verifier.
#pragma once

#include <span>

#include "compiler/ir/verify.h"

namespace kiln::compiler {

std::span<const VerifyRule> schedule_rules();

// Checks everything except the nodes under the sinks. Throws E-verify.
void verify_statements(const Graph& g, const Schedule& s, Form form);
// Checks a program or segment in form `tensors`: rule whole-tensors. Requires: verify_scopes accepts it. Throws E-verify.
void verify_whole_tensors(const Graph& g, Id sink);

}  // namespace kiln::compiler
