// index_dtype: exact index arithmetic -> i32 and i64.
//
// before: values of type index. after: each has the type that holds its own values and those of its operands by their bounds,
// so that nothing overflows on the way even where the result alone would fit. Lanes and divisions are i32 where that is proven
// (twice the lanes in a register, a third of the time); other scalars are i64, the width of an address. Where a value meets
// another type it is cast, which is exact. A division whose operands are not negative becomes an unsigned one, without the
// correction that floor needs. precondition: P level, poison is in gates. postcondition: SYM is the only index value, below a
// CAST to i64; equal results.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// i32 is used only where `narrowest_bits` allows it: with 64 every index is i64.
Id index_dtype(Graph& g, Id sink, const Facts& facts, int narrowest_bits);

}  // namespace kiln::compiler
