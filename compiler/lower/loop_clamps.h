// loop_clamps: removes clamps and casts of indices that never act, because of the ends of the loops around them.
//
// Before: a kernel that the program wrote. The RANGE of a FOR has a rough end if the loop ends at a value of the kernel, such
//   as the counter of another loop, or data. An index may be CAST index of CAST i32 of an index.
// After: MIN, MAX and comparisons that the ends of the FORs decide are gone, and so are casts to i32 of values that fit. The
//   FORs and their RANGEs are the same.
// Requires: K level.
// Why: the programmer's loop keeps its indices inside of the array, but a clamp in the innermost loop costs more than the load.
// Example: FOR j in 0..N { FOR k in 0..j { x[min(max(cast index(cast i32(k)), 0), N - 1)] } }  ->  x[k]
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id loop_clamps(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
