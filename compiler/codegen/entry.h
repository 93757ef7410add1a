// Emits the entry of a program: NAME(status, args, n_args, context).
//
// The entry has a fast path and a slow path. The fast path is for common calls: dense arguments without strides, all checks
// hold, no work for several threads. Straight-line code checks the arguments and runs the kernels at once, in the default
// floating-point environment. The slow path calls kiln_call, which checks everything again and reports errors. Programs with
// temporaries, host loops, data checks, many arguments, or extents that could overflow have only the slow path.
#pragma once

#include <span>
#include <string>

#include <llvm/IR/Module.h>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void emit_entry(llvm::Module& module, llvm::GlobalVariable* description, const Graph& g, const Schedule& schedule,
                std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels, const std::string& name);

}  // namespace kiln::compiler
