// Fold stages. What: range assignment decides about storage before it knows what else is stored; this pass looks at the result
// again. An axis that the value does not vary over, that has one element, or of which everybody reads the same element goes;
// the end may be symbolic. A stage goes, and its value takes the place of each read, where the value is a constant or a single
// element, where it only copies another stage or parameter, and where to compute it again costs less than to move its bytes
// (staging.h). Before: INDEX(STAGE(exp(INDEX(x, r0)), r0 < N, r1 < M), i, j). After: INDEX(STAGE(exp(INDEX(x, r0)), r0 < N),
// i). Sources come first, so a stage is judged with what was folded into it, in one walk. Precondition: range assignment ran.
// Postcondition: the same values; loads of a value that replaces a gated read have the gate; REDUCE RANGEs of each copy are
// new.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void fold_stages(Graph& g, Program& p);

}  // namespace kiln::compiler
