// cases_of: splits the value of a reduction over one range into cases, and collects the conditions that select each case.
//
// Before: the value of a REDUCE: nested WHEREs, casts of bools and products with them, and in integer sums also +, - and *.
// After: a list of cases {conditions, factors, value}. An iteration whose value is not the reduction's identity belongs to
//   exactly one case. Exception: in a sum of integers an iteration may belong to several cases, which add up.
// Why: if the value of a case does not depend on the range, its iterations are counted. Else r == i may select only one.
// Example: the sum over r of (r < hi ? 5 : 0) has the single case {r < hi, no factors, 5}.
#pragma once

#include <optional>
#include <vector>

#include "compiler/rangeify/one_range.h"

namespace kiln::compiler {

struct Case {
  std::vector<Clause> when;  // conditions that all hold
  std::vector<Id> factors;   // in sums of integers: factors of the value that do not depend on the range
  Id value;
};

// nullopt: the value has too many cases.
std::optional<std::vector<Case>> cases_of(Graph& g, OneRange& range, ReduceKind kind, Id value);

}  // namespace kiln::compiler
