// index_dtype: gives every index value an integer type, i32 or i64.
//
// Before: values of type index, which are exact integers.
// After: only SYM has type index, under a CAST to i64. By their bounds, every other value and its operands fit the value's
//   type, so no step overflows. A limit of a minimum is lowered to 2^31 - 1 if the lanes are no larger. Evenly spaced lanes
//   that need i64 are compared with a limit by their distance from it, which fits i32. Vectors and divisions
//   are i32 if the bounds prove that i32 suffices: a register holds twice as many lanes, and a division takes a third of the
//   time. Other scalars are i64, the width of an address. A division of a non-negative value by a positive one is unsigned,
//   which saves the correction for rounding down.
// Requires: P level; conditions are in gates.
// Example: FLOORDIV index (i, 3) with 0 <= i < 1000  ->  CAST i32 (CDIV u32 (CAST u32 i, 3))
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// narrowest_bits: 32, or 64 to make every index i64.
Id index_dtype(Graph& g, Id sink, const Facts& facts, int narrowest_bits);

}  // namespace kiln::compiler
