// Runs LLVM passes on the module: redundancy, peepholes, loop-invariant code. LLVM's loop and SLP vectorisers and its unroller
// do not run, because lowering decides about vectors and loops. Very large functions get linear passes only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace kiln::compiler {

void run_llvm_passes(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace kiln::compiler
