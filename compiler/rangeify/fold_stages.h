// fold_stages: removes the STAGEs, and the axes of STAGEs, that range_assignment did not need.
//
// Before: INDEX(STAGE(exp(INDEX(x, r0)), r0 < N, r1 < M), i, j)
// After:  INDEX(STAGE(exp(INDEX(x, r0)), r0 < N), i), or exp(INDEX(x, i)) if computing it again is cheaper than storing it
//   An axis is removed if the value does not vary over it, if it has one element, or if all readers use the same element of it.
//   A STAGE is replaced by its value if the value is constant, is one element without a reduction, only copies another tensor,
//   or costs less than the traffic of its bytes (staging.h). Exceptions: STAGEs that the program asked for, tensors of KERNELs.
//   A reader whose gate compares ranges, as for a piece of a concatenation, needs the value in a part of its iterations only.
//   If the replaced read has a gate, all loads in the copy of the value get that gate. REDUCEs in each copy have new RANGEs.
// Requires: range_assignment has run.
// Why: range_assignment decides about storage before it knows which other values are stored. This pass visits sources first, so
//   the cost of a STAGE includes the values that were folded into it.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void fold_stages(Graph& g, Program& p);

}  // namespace kiln::compiler
