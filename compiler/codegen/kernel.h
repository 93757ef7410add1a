// Emits one kernel at P level as an LLVM function `void (ptr buffers, ptr symbols, i64 begin, i64 end)`.
//
// A value is emitted at its first use, in the deepest loop that it depends on. A loop tests its condition at the end of the
// body and has a guard in front, so that LLVM may hoist code that every iteration executes. A work list replaces recursion.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/ir/schedule.h"
#include "compiler/ir/symbols.h"

namespace kiln::compiler {

// Whether the kernel has ATOMICs. Then its code depends on the trip count, because ATOMICs need no indivisible instructions in
// a call that runs all iterations.
bool has_atomics(const Graph& g, Id sink);

// symbols: of the program, in the order of the argument `symbols`. inout: by slot, whether the kernel reads the buffer's value
// on entry. sink, trip_count: of the lowered kernel.
void emit_kernel(llvm::Function& function, const Graph& g, const SymbolIndex& symbols, const Kernel& kernel,
                 const std::vector<bool>& inout, Id sink, Id trip_count);

}  // namespace kiln::compiler
