// Simplify ranges. What: fewer, longer loops. A LOOP range of end 1 becomes index 0 (a kernel keeps at least one range). Two
// adjacent LOOP ranges a (outer) and b of end n, or two neighbouring ranges of a REDUCE, merge into one of end end(a)*n when
// every index that adds multiples of them is a multiple of a*n + b, and those that divide do not divide more often. So loops
// stay apart where an operand varies over one of them alone (the tiles of a matrix product). A REDUCE of a REDUCE of a kind
// without order (integers, max, min, any, all) becomes one when their ranges merge. Extents may be symbolic. Before: END(STORE,
// r0 < H, r1 < W) with index r0*W + r1. After: END(STORE, r0 < H*W) with index r0. Kernels with phases keep their ranges:
// lowering merges those of each phase. Precondition: kernel split ran. Postcondition: the same elements are computed from the
// same elements, in the same order where it matters; LOOP ids count from 0, outermost first, REDUCE ids go on from there.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void simplify_ranges(Graph& g, Schedule& s);

}  // namespace kiln::compiler
