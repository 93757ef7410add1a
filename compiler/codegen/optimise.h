// LLVM's middle end: redundancy, peepholes, loop-invariant code. Vectors and loops are as lowering made them: LLVM's loop and
// SLP vectorisers and its unroller do not run. Very large functions get the linear passes only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace kiln::compiler {

void optimise(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace kiln::compiler
