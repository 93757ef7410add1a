// Emits the description of one variant of a program (kiln_program_desc of kiln/program.h) as constants.
#pragma once

#include <span>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/constants.h"

namespace kiln::compiler {

// The size of the workspace as postfix code (expression.h). The size suffices for every variant, because an application may ask
// for it first and force another variant then.
llvm::Constant* emit_workspace(Constants& constants, std::span<const CodegenVariant> variants);

// kernels[i] is the function of variant.schedule.kernels[i].
llvm::GlobalVariable* emit_description(Constants& constants, const CodegenVariant& variant,
                                       std::span<llvm::Function* const> kernels, llvm::Function* entry,
                                       llvm::Constant* workspace);

}  // namespace kiln::compiler
