// Small vectors. What: tensors of a few elements inside a KERNEL or FOR of the program become their elements, so that they live
// in registers. Before: elementwise operations, movement, reductions and variables of static shapes inside a region. After:
// rank-0 values only (and states of memory); reductions are written out in the order that docs/reference/numbers.md gives them.
// Precondition: a well-formed tensor-level program. Postcondition: the same bits. Errors: E-scope for a tensor inside a region
// whose extents are not constants or that has more than max_small_elements elements.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

inline constexpr std::int64_t max_small_elements = 64;

void small_vectors(Graph& g, Program& p);

}  // namespace kiln::compiler
