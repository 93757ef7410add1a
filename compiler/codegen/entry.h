// The entry of a program: NAME(status, args, n_args, context).
//
// A call that is right in the common way (dense arguments without strides, all checks hold, nothing for several threads) is
// checked by straight-line code and runs the kernels at once, in the default floating-point environment. Every other call, a
// wrong one among them, goes to kiln_call, which decides for itself and names what is wrong. Programs with temporaries, many
// arguments, or extents that this code could not evaluate without overflow have the second way only.
#pragma once

#include <span>
#include <string>

#include <llvm/IR/Module.h>

#include "compiler/ir/program.h"

namespace kiln::compiler {

void emit_entry(llvm::Module& module, llvm::GlobalVariable* description, const Graph& g, const Schedule& schedule,
                std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels, const std::string& name);

}  // namespace kiln::compiler
