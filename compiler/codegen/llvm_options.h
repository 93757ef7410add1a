// LLVM's process-wide options for the module that is compiled next.
#pragma once

namespace kiln::compiler {

// has_symbols: the strides of the program's arrays are no constants.
void set_llvm_options(bool has_symbols);

}  // namespace kiln::compiler
