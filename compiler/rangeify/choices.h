// The value of a reduction as choices: for the iterations where the conditions hold, value times the factors. Together they
// cover every iteration whose value is not the reduction's identity, each once; of a sum of integers, the choices add up.
#pragma once

#include <optional>
#include <vector>

#include "compiler/rangeify/one_range.h"

namespace kiln::compiler {

struct Choice {
  std::vector<Clause> when;
  std::vector<Id> factors;  // of a sum of integers; they do not depend on the range
  Id value;
};

// nullopt: too many.
std::optional<std::vector<Choice>> choices_of(Graph& g, OneRange& range, ReduceKind kind, Id value);

}  // namespace kiln::compiler
