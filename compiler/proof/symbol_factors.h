// Factors symbols out of index sums: W*r*18 + W*i + j becomes W*(r*18 + i) + j. The only fact about multiples of W that a
// solver has is that a smaller number of them is smaller by at least W. In the factored form this fact splits a question into
// two linear questions.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Returns an index with the same value. order: symbols to factor out, outermost first; if it is empty, the index determines
// them, and they are added to it. An index that is not a sum of products does not change.
Id with_symbols_out(Graph& g, Id index, std::vector<Id>& order);

}  // namespace kiln::compiler
