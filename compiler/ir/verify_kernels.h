// The verifier's rules for whole segments and kernels, from range assignment to code generation. Internal to the verifier.
#pragma once

#include <span>

#include "compiler/ir/verify.h"

namespace kiln::compiler {

std::span<const VerifyRule> kernel_rules();
std::span<const VerifyRule> range_rules();

// Checks a program of ranges: SINK(END(STORE(PARAM, value), RANGEs)...). Throws E-verify.
void verify_ranges(const Graph& g, const Program& p, Id sink);
// Checks kernel i of the schedule, in form `kernels` or later. Throws E-verify.
void verify_kernel(const Graph& g, const Schedule& s, std::size_t i);

}  // namespace kiln::compiler
