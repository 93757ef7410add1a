// Refuses kernels with a fused multiply-add for a target that has no such instruction. LLVM would emit a call of a library,
// but an object calls only the runtime. Other instructions could compute an exact fma, but very slowly.
#pragma once

#include <span>

#include "compiler/ir/schedule.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// Throws Diagnostic E-target at the line of the first such operation.
void check_instructions(const Graph& g, std::span<const LoweredKernel> lowered, const Target& target);

}  // namespace kiln::compiler
