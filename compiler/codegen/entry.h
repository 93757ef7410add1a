// Emits the entry of a variant: (status, args, n_args, context), which kiln_program_desc.entry names.
//
// The entry has a fast path and a slow path. The fast path is for common calls: arguments in the form that generated headers
// pass (strides for pitched and strided parameters only), all checks hold, no work for several threads. Straight-line code
// checks the arguments and runs the kernels in the default floating-point environment. The slow path calls kiln_call, which
// checks everything again and reports errors. Programs with host loops, data checks, many arguments or kernels, or extents that
// could overflow have only the slow path.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include <llvm/IR/Module.h>

#include "compiler/codegen/codegen.h"

namespace kiln::compiler {

// A function of the type of an entry. before: types of more parameters, between the status and the arguments.
llvm::Function* declare_entry(llvm::Module& module, std::initializer_list<llvm::Type*> before, const std::string& name);

void emit_entry(llvm::Function& entry, llvm::GlobalVariable* description, const CodegenVariant& variant,
                std::span<llvm::Function* const> kernels);

// Ends the block with the return of kiln_call(status, description, the entry's other arguments).
void emit_kiln_call(llvm::Function& entry, llvm::BasicBlock* at, llvm::Value* description);

}  // namespace kiln::compiler
