// Index sums with symbols taken out: W*r*18 + W*i + j as W*(r*18 + i) + j. A solver that knows of multiples of W only that a
// smaller number of them is smaller by a W at least then sees two linear questions.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The same value. `order`: symbols to take out, outermost first; when empty, the index says which, and they are added. An index
// that is no sum of products stays as it is.
Id with_symbols_out(Graph& g, Id index, std::vector<Id>& order);

}  // namespace kiln::compiler
