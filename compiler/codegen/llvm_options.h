// LLVM's process-wide options for the module that is compiled next.
#pragma once

namespace kiln::compiler {

// has_symbols: whether the program has symbols, so that strides may be no constants.
void set_llvm_options(bool has_symbols);

}  // namespace kiln::compiler
