// choices_of: splits the value of a reduction over one range into cases, and collects the conditions that select each case.
//
// Before: the value of a REDUCE: nested WHEREs, casts of bools and products with them, and in integer sums also +, - and *.
// After: a list of choices {conditions, factors, value}. An iteration whose value is not the reduction's identity belongs to
//   exactly one choice. Exception: in a sum of integers an iteration may belong to several choices, which add up.
// Why: the iterations of a choice can be counted (if its value does not depend on the range), or there is only one (r == i).
// Example: the sum over r of (r < hi ? 5 : 0) has the single choice {r < hi, no factors, 5}.
#pragma once

#include <optional>
#include <vector>

#include "compiler/rangeify/one_range.h"

namespace kiln::compiler {

struct Choice {
  std::vector<Clause> when;  // conditions that all hold
  std::vector<Id> factors;   // in sums of integers: factors of the value that do not depend on the range
  Id value;
};

// nullopt: the value has too many cases.
std::optional<std::vector<Choice>> choices_of(Graph& g, OneRange& range, ReduceKind kind, Id value);

}  // namespace kiln::compiler
