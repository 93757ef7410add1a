// fold_stages: removes STAGEs whose values are cheaper to compute again, and axes of STAGEs that no reader needs.
//
// Before: INDEX(STAGE(exp(INDEX(x, r0)), r0 < N, r1 < M), i, j)
// After:  INDEX(STAGE(exp(INDEX(x, r0)), r0 < N), i), or exp(INDEX(x, i)) if computing it again is cheaper than storing it
//   An axis is removed if the value does not vary over it, if it has one element, or if all readers use the same element of it.
//   A STAGE is replaced by its value if the value is constant, is one element without a reduction, or is not worth storing
//   (staging.h). Exceptions: STAGEs that the program asked for, tensors of KERNELs. A reader with a gate that compares
//   ranges, as for a piece of a concatenation, counts only iterations in which the gate holds. If the replaced read has a
//   gate, all loads in the copy of the value get that gate. REDUCEs that change in a copy get new RANGEs.
// Requires: range_assignment has run.
// Why: range_assignment decides about storage before it knows which other values are stored. This pass visits sources first, so
//   the cost of a STAGE includes the values that were folded into it.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void fold_stages(Graph& g, Program& p);

}  // namespace kiln::compiler
