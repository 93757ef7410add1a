// index_dtype: gives every index value an integer type, i32 or i64.
//
// Before: values of type index, which are exact integers.
// After: only SYM has type index, under a CAST to i64. Every other value has a type that holds all its values and those of its
//   operands, by their bounds, so no step of a computation overflows. Vectors and divisions are i32 if the bounds prove that
//   i32 suffices, because a register holds twice the lanes and a division takes a third of the time. Other scalars are i64, the
//   width of an address. A division of non-negative operands is unsigned, which saves the correction that rounding down needs.
// Requires: P level; conditions are in gates.
// Example: FLOORDIV index (i, 3) with 0 <= i < 1000  ->  CAST i32 (CDIV u32 (CAST u32 i, 3))
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// narrowest_bits: 32, or 64 to make every index i64.
Id index_dtype(Graph& g, Id sink, const Facts& facts, int narrowest_bits);

}  // namespace kiln::compiler
