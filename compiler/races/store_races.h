// store_races: refuses a program if the results of a kernel may depend on the order of its work items.
//
// Before: a tensor-level program.
// After: the same program. Throws Diagnostic E-race, at the store, unless it is proven for any two work items of a KERNEL, and
//   for any two work items of a workgroup between the same barriers, that
//   - they store to different elements,
//   - neither reads an element that the other one writes,
//   - atomics and other accesses use different elements.
// Requires: promises of the program (`unique`) are true. Stores with this promise are not checked.
// Why: the work items run on several threads and in vector lanes, in any order.
// Example: y(i / 2) = x(i) is refused: work items 0 and 1 both store to y(0).
// Algorithm: for each pair of accesses, a dependence test (dependence_test.h) on their indices and conditions (index_forms.h).
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void store_races(Graph& g, const Program& p);

}  // namespace kiln::compiler
