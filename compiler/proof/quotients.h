// Finds pairs of floor divisions by one divisor n whose dividends differ by a polynomial multiple of n: x = y + n*k. Then x//n
// equals y//n + k. A remainder inside a dividend counts as x - n*(x//n).
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct QuotientTerm {
  std::int64_t coefficient = 0;
  std::vector<Id> symbols;    // SYM nodes
  std::vector<Id> quotients;  // FLOORDIV or FLOORMOD nodes of the rule; each one means its quotient
};

struct QuotientPair {
  Id first, second;  // FLOORDIV or FLOORMOD nodes of the rule
  std::vector<QuotientTerm> shift;
};

// Adds nodes to the graph.
std::vector<QuotientPair> related_quotients(Graph& g, const std::vector<Id>& roots);

}  // namespace kiln::compiler
