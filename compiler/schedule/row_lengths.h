// Row lengths: versions of a kernel for short and for long rows. product_versions adds them.
//
// Before: a kernel, perhaps with tile steps, that reduces along many rows of one symbolic length.
// After: two kernels. In the one for short rows the REDUCEs have at most 32 iterations, in the other one at least 33. A call
//   runs one of them.
// Ensures: each REDUCE reduces the same elements in the same order.
// Why: the code for a row of at most 32 elements is one vector under a mask that is the same for all rows. The code for long
//   rows has loops. If both are in the loop over the rows, each row pays for the tests, which takes as long as its sum.
// Example: y[i < N] = sum over k < D of x[i, k]   ->   y[i < N] = sum over k < min(D, 32) of x[i, k], and
//   y[i < N] = sum over k < max(D, 33) of x[i, k]. The ends of their outermost ranges are 0 for the calls of the other one.
#pragma once

#include <optional>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

struct RowLengths {
  Kernel few, many;
  Id length;  // of a row
  Id factor;  // 1 if the rows of the call are short, else 0
};

// Whether the kernel makes a value of few operations of each row, and no elements along rows. Then these versions are faster
// than the ones with lanes of rows (short_rows.h), which copy the rows first, unless it finds extrema.
bool only_reduces_rows(const Graph& g, const Kernel& k);

// Whether REDUCEs have steps of several instructions: an extremum passes NaN on, and the place of an extremum is searched. Then
// a vector of which most lanes are inactive costs more than the copy of the rows.
bool finds_extrema(const Graph& g, const Kernel& k);

// nullopt: the kernel has another form.
std::optional<RowLengths> row_lengths(Graph& g, const Schedule& s, const Kernel& k);

}  // namespace kiln::compiler
