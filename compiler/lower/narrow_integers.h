// narrow_integers: computes 32-bit integers in 16 bits where all values fit.
//
// Before: i32 and u32 arithmetic between casts from integers of at most 16 bits and casts to such integers, or comparisons.
// After: the same in u16 or i16, if the intervals of all its values fit (value_bounds.h). The results are equal.
// Requires: K level, reductions not lowered yet.
// Why: a vector holds twice as many 16-bit values. C++ programs often read and write bytes, and compute with int in between.
// Example: CAST u8 (SHR i32 (ADD (MUL (CAST i32 a, 77), MUL (CAST i32 b, 179)), 8)) of u8 a and b: at most 256 * 255
//   ->  CAST u8 (SHR u16 (ADD (MUL (CAST u16 a, 77), MUL (CAST u16 b, 179)), 8))
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id narrow_integers(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
