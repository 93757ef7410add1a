// Emits the program description of kiln/program.h as constants, and the two external functions: the entry NAME and NAME_desc.
#pragma once

#include <span>
#include <string>

#include <llvm/IR/Module.h>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// kernels[i] is the function of schedule.kernels[i].
void emit_program(llvm::Module& module, const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered,
                  std::span<llvm::Function* const> kernels, const std::string& entry_name);

}  // namespace kiln::compiler
