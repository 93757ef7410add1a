// array_values: replaces arrays of a kernel by values in registers.
//
// Before: LOCAL arrays, whose states go through straight code and loops with constant bounds.
// After: the loops are unrolled (unroll_loop.h). Each LOAD of an array is the value that a STORE put there, or lanes of several
//   such values; the STOREs and the array are gone. If one access of the arrays is at an index that is not constant then, or if
//   the code would be too long, nothing changes.
// Requires: the values that lanes hold are P level; everything else is K level.
// Why: a loop that stores a vector and a loop behind it that loads from there wait for each other in memory.
// Example: FOR t in 0..16 step 8 { a[t] = x[t] }, FOR t in 0..8 step 8 { a[t] += a[t + 8] }  ->  x[0..8] + x[8..16]
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// has_workgroups: vectors hold the arrays of the kernel. Else each lane will have arrays of its own, in vectors for each
// element.
Id array_values(Graph& g, RangeIds& loops, Id sink, bool has_workgroups, const Target& target);

}  // namespace kiln::compiler
