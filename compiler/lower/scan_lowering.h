// scan_lowering: replaces the loop around a SCAN by loops over groups of elements, in the order of docs/reference/numbers.md.
//
// Before: FOR{RANGE r} that carries one state of memory and stores a function of SCAN{value, r} args {kind, exclusive}.
// After: no SCAN. A FOR over whole groups of 16 elements, then a FOR for the rest, which has one iteration or none. They carry
//   the result of the groups before and, if the order matters and there may be several blocks, that of the blocks before.
//   - Elements that are stored next to each other: a group is a vector, and its steps are shuffles. The rest is masked.
//   - Others, and axes of fewer than 16 elements: a group is 16 scalars, so that a range of the kernel can become lanes, and
//   each
//     element takes the additions of its own steps only. Elements behind the end read the last one and are not stored.
// Requires: K level, decompose_half ran. `loops` numbers new ranges.
// Why: the elements of a group do not wait for each other: the chain from group to group is one operation.
// Example: FOR r in 0..N { y[r] = SCAN{x[r], r} }  ->  FOR g in 0..N/16 { v = x[16 g ..]; v = v + (v, one lane later, in odd
//   lanes); .. ; y[16 g ..] = carry + v; carry = carry + lane 15 of v }, FOR the rest
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct LoweredScans {
  Id sink;
  bool have_vectors;  // some scan works on vectors
};
LoweredScans scan_lowering(Graph& g, RangeIds& loops, Id sink, const Facts& facts);

}  // namespace kiln::compiler
