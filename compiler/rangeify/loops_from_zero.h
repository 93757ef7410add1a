// loops_from_zero: lets the counters of loops begin at 0 where they could be negative.
//
// Before: a FOR whose begin is perhaps negative.
// After: the same iterations over a RANGE that begins at 0. This RANGE plus the old begin takes the place of the counter.
// Requires: a well-formed tensor-level program. Runs before the races are checked, and is no pass, because it changes nothing
//   in programs of the DSL, whose loops begin at 0.
// Why: bounds and proofs of index arithmetic assume that no RANGE is negative.
// Example: for i from -2 below N: f(i)  ->  for k from 0 below N + 2: f(k - 2)
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void loops_from_zero(Graph& g, Program& p);

}  // namespace kiln::compiler
