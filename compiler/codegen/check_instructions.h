// Refuses kernels with a fused multiply-add for a target that has none. An fma of other instructions would be correct but very
// slow, and LLVM would call a library, while an object calls nothing but the runtime.
#pragma once

#include <span>

#include "compiler/ir/schedule.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// Throws Diagnostic E-target at the line of the first such operation.
void check_instructions(const Graph& g, std::span<const LoweredKernel> lowered, const Target& target);

}  // namespace kiln::compiler
