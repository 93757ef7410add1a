// Emits what an object exports for a program, and the table of its variants (kiln_variants of kiln/program.h):
//
//   NAME(status, args, n_args, context)   calls the entry of the selected variant
//   NAME_desc()                           the description of the selected variant
//   NAME_variants()                       the table
//
// These functions run before a variant is selected, so they have no target attributes: they are code for any CPU of the triple.
// The selection is one pointer per program in writable memory. The first use finds null and asks kiln_selected_variant() of the
// runtime, whose answer kiln_call checks.
#pragma once

#include <span>
#include <string>

#include "compiler/codegen/constants.h"

namespace kiln::compiler {

// programs: the description of each variant, best first.
void emit_dispatch(llvm::Module& module, Constants& constants, std::span<llvm::GlobalVariable* const> programs,
                   const std::string& name);

}  // namespace kiln::compiler
