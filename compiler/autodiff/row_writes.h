// Writes of a row at one place, t(2) = row, as tensor operations.
//
// Outside of kernels such a write is a KERNEL over the elements of the row, through which reverse mode does not go. But its
// result is t with other values where the first indices are equal: where(i == 2, row, t).
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The values, the first of which depends on the others, without the writes of rows between them.
void with_row_writes(Rules& rules, std::span<Id> values);

}  // namespace kiln::compiler::autodiff
