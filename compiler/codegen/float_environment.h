// The floating-point environment around kernels that an entry runs itself.
//
// Kernels mean what docs/reference/numbers.md says in the default environment only: round to nearest, nothing flushed to zero,
// every exception masked. The entry saves the caller's environment, sets the default one, runs the kernels and restores the
// caller's, so a flag that a kernel raises is not seen either. runtime/src/float_environment.h does the same for kiln_call.
//
// There is no test for the default environment: on x86 setting the modes that are already set costs nothing, while a branch on
// MXCSR waits until it has been read (measured on Zen 5: 2 ns more for each call).
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// Whether the module's target is one that these functions know.
bool has_float_environment(const llvm::Module& module);

// Returns what restore_float_environment() needs.
llvm::Value* save_float_environment(Builder& b);
void set_default_float_environment(Builder& b);
void restore_float_environment(Builder& b, llvm::Value* saved);

}  // namespace kiln::compiler
