// share_loads: writes out iterations of a loop that load the same elements, so that each element is loaded once.
//
// Before: an innermost FOR without effects. It carries values. One of two things holds:
//   - a LOAD reads the element that another LOAD reads a few iterations later, as in sums over the rows of windows
//   - the lanes of a LOAD are every s-th element, and the LOADs of the next iterations read the elements between them, as in a
//     filter with steps
// After: a FOR over several iterations at a time, which has one LOAD for each element, and a FOR over the rest.
// Requires: loops are made, and cut at their borders.
// Ensures: each value is computed by the same operations in the same order.
// Why: a vector register takes part in one operation only, if each iteration loads its operands. Loads limit such loops.
// Example: for y in 0..n: a += c[y] * x[y]; b += c[y] * x[y + 1]
//   ->  for y in 0..n step 2: a += c[y] * x[y]; b += c[y] * x[y + 1]; a += c[y + 1] * x[y + 1]; b += c[y + 1] * x[y + 2]
// Literature: unroll and jam; scalar replacement (Callahan, Carr, Kennedy, "Improving register allocation for subscripted
//   variables", 1990).
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

Id share_loads(Graph& g, RangeIds& loops, Id sink, const Target& target);

}  // namespace kiln::compiler
