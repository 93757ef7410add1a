// Clamps of indices that seldom act, as branches.
//
// Before: in a loop, a minimum and a maximum keep a scalar index between 0 and a limit that does not change in the loop. The
//   result is part of an address.
// After: a comparison tests whether the index is in bounds. Only if not, the minimum and the maximum run, in a block of their
//   own.
// Why: the minimum and the maximum take four instructions, which an access at a place from data waits for, also if its array
//   is in the first-level cache. A branch that is always predicted costs one instruction, and nothing waits for it.
// Example: y[max(min(w[i], n - 1), 0)]  ->  k = w[i]; if (k >= n as unsigned numbers) k = max(min(k, n - 1), 0); y[k]
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace kiln::compiler {

void branch_at_rare_clamps(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);

}  // namespace kiln::compiler
