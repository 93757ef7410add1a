// Simplify ranges. What: fewer, longer loops. A LOOP range of end 1 becomes index 0 (a kernel keeps at least one range); two
// adjacent LOOP ranges a (outer) and b of end n merge into one of end end(a)*n when a and b occur only as multiples of a*n + b
// in every index, gate and cast of the kernel, so no division appears. Extents may be symbolic. Before: END(STORE, r0 < H, r1 <
// W) with index r0*W + r1. After: END(STORE, r0 < H*W) with index r0. Precondition: kernel split ran. Postcondition: the same
// elements are computed from the same elements; LOOP ids count from 0, outermost first, REDUCE ids go on from there.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void simplify_ranges(Graph& g, Schedule& s);

}  // namespace kiln::compiler
