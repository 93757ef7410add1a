// integer_indices: replaces integer arithmetic that is used as an index by index arithmetic.
//
// Before: CAST index of i32 arithmetic on CAST i32(RANGE), extents and data. Comparisons of such arithmetic.
// After: CAST index only of data, and of arithmetic that may wrap. Clamps that never act are gone.
//   Arithmetic without data that cannot wrap is compared as index arithmetic. The number of an element of a parameter cannot
//   wrap in i64, because the entry check limits the sizes of parameters. No index and no condition changes its value.
// Requires: a well-formed tensor-level program.
// Why: bounds, strides and clamps can be analysed in index arithmetic only.
// Example: with i < N <= 10^6, x[min(max(cast index(cast i32(i) - 1), 0), N - 1)] becomes x[max(i - 1, 0)].
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void integer_indices(Graph& g, Program& p);

}  // namespace kiln::compiler
