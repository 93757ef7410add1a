// Expands conversions between f16 and f32 for CPUs that have no instruction for them (F16C). LLVM would call a library.
#pragma once

#include <llvm/IR/Function.h>

namespace kiln::compiler {

// Before: fpext from half to float and fptrunc from float to half, of scalars or vectors.
// After: integer operations, one multiplication and one addition of f32, with the same results.
void expand_half_conversions(llvm::Function& f);

}  // namespace kiln::compiler
