// Runs LLVM passes on the module: redundancy, peepholes, loop-invariant code. LLVM's loop and SLP vectorisers and its unroller
// do not run, because lowering decides about vectors and loops. Very large functions get linear passes only.
// has_symbols: whether the program has symbols. Then the address of a row is the address of the row before and a symbolic
// stride, in place of a product of its own.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace kiln::compiler {

void run_llvm_passes(llvm::Module& module, llvm::TargetMachine& machine, bool has_symbols);

}  // namespace kiln::compiler
