// small_vectors: replaces tensors of a few elements inside a KERNEL or FOR of the program by their elements.
//
// Before: elementwise operations, movement, reductions and carried values of static shapes in the body of a KERNEL or FOR.
// After: values of rank 0 only, and states of memory, with the same bits. Reductions are written out, in the order of
//   docs/reference/numbers.md.
// Requires: a well-formed tensor-level program.
// Errors: E-scope for a tensor in these bodies with an extent that is not constant, or with over max_small_elements elements.
// Why: elements of rank 0 are kept in registers.
// Example: v = a + b of f32 [3]  ->  three adds; v[k] with an unknown k  ->  WHERE(k == 2, v2, WHERE(k == 1, v1, v0))
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

inline constexpr std::int64_t max_small_elements = 64;

void small_vectors(Graph& g, Program& p);

}  // namespace kiln::compiler
