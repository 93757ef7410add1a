// Range assignment. What: replaces axes by RANGEs. Starting from the stores, every value is asked for at an index map; movement
// operations change the map and vanish (PAD becomes WHERE(inside, x, value), CONCAT nested WHEREs, IOTA a cast of its index), a
// REDUCE brings ranges of its own, and values for which the staging model wants a buffer become STAGE nodes with LOOP ranges.
// Before: SINK(STORE(PARAM, value)...) over tensor operations. After: SINK(END(STORE(PARAM, value), LOOP RANGEs...)...) over
// scalar operations, REDUCE {x.., RANGEs..}, INDEX(PARAM or STAGE, index per axis) and STAGE(value, RANGEs...). Where an
// element may lie outside, the first index is WHERE(gate, i, INVALID): nothing is loaded unless the gate holds. Precondition:
// graph cleanup ran. Postcondition: RANGE ids are unique in the program; stores that share their ranges belong to one kernel.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void range_assignment(Graph& g, Program& p);

}  // namespace kiln::compiler
