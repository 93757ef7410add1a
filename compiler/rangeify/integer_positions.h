// Integer positions. What: an integer of the program that is used as a position becomes index arithmetic as far as no operation
// on the way can wrap, so that bounds, strides and clamps are seen through it. Before: CAST index(i32 arithmetic on CAST
// i32(RANGE), extents and data). After: CAST index remains only on data and on what may wrap; a clamp that never acts is gone.
// Precondition: a well-formed tensor-level program. Postcondition: every index has the same value as before.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void integer_positions(Graph& g, Program& p);

}  // namespace kiln::compiler
