// split_chains: a striped reduction of a row gets a kernel of its own if rows are the best lanes for the rest of its kernel.
//
// Before: a kernel over rows and few elements of each row. It has a long sum in order, which depends on the element, and a long
//   striped reduction, which depends on the row only. Or a kernel with one value for each row: a function, such
//   as an exponential, of striped reductions of at most 512 elements, or of a symbolic number of elements.
// After: a kernel before it stores the striped reduction for each row, and the kernel loads it.
// Requires: kernel_split ran.
// Ensures: the same values.
// Why: a striped reduction has lanes along the row. The sums in order of one row have none; sums of neighbouring rows are lanes
//   of one vector, if the kernel has nothing else.
// Example: y[i, c] = (sum over j of w[i, j] * v[j, c]) / (sum over j of w[i, j]), c < 2   ->
//   s[i] = sum over j of w[i, j]; y[i, c] = (sum over j of w[i, j] * v[j, c]) / s[i]
//   y[i] = tanh(dot(x[i], w))  ->  s[i] = dot(x[i], w); y[i] = tanh(s[i])
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void split_chains(Graph& g, Schedule& s);

}  // namespace kiln::compiler
