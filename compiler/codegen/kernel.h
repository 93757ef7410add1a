// One kernel at P level -> one LLVM function `void (ptr buffers, ptr symbols, i64 begin, i64 end)`.
//
// Values are placed on demand: each at its first use, in the deepest loop it depends on. Loops are emitted rotated, behind a
// guard, so that they test first and LLVM may hoist what each iteration executes. An explicit work list replaces recursion.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/ir/symbols.h"

namespace kiln::compiler {

// symbols: of the program, in the order in which their values are passed. inout: the slots of such parameters. sink: of the
// lowered kernel.
void emit_kernel(llvm::Function& function, const Graph& g, const SymbolIndex& symbols, const Kernel& kernel,
                 const std::vector<bool>& inout, Id sink);

}  // namespace kiln::compiler
