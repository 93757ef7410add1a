// Sums of float constants that no order of additions rounds.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct Repeated {
  Id constant;
  Id count;  // index value, how often it is added
};

// The sum of `most` numbers at most, starting at +0, each 0 or one of the constants, which have type d: computed from the
// counts. no_id: some partial sum might be rounded.
Id exact_sum(Graph& g, DType d, std::span<const Repeated> numbers, std::int64_t most);

}  // namespace kiln::compiler
