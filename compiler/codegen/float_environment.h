// The floating-point environment around kernels that an entry runs itself.
//
// docs/reference/numbers.md holds for kernels in the default environment only: round to nearest, nothing flushed to zero, every
// exception masked. So the entry saves the caller's environment, sets the default one, runs the kernels, and restores the
// caller's. The caller does not see flags that a kernel raises. runtime/src/float_environment.h does the same for kiln_call.
//
// The caller's status flags stay set, because a kernel's results do not depend on them, and a change of MXCSR is slow on
// some CPUs: 35 to 40 ns on Sapphire Rapids, where a write of equal contents costs nothing. The entry does not test whether
// the environment is the default one: a branch on MXCSR waits for the read (measured on Zen 5: 2 ns more for each call).
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// Whether these functions support the module's target.
bool has_float_environment(const llvm::Module& module);

// Returns the argument for restore_float_environment().
llvm::Value* save_float_environment(LlvmBuilder& b);
void set_default_float_environment(LlvmBuilder& b, llvm::Value* saved);
void restore_float_environment(LlvmBuilder& b, llvm::Value* saved);

}  // namespace kiln::compiler
