// exact_sum: sums float constants by arithmetic on their counts, if no partial sum rounds in any order of additions.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct Repeated {
  Id constant;
  Id count;  // index value: number of times that the constant is added
};

// The sum, from +0, of at most `most` terms of type d. Each term is 0 or one of the constants. no_id: some partial sum might
// round. Example: the constant 2.5, added n times, gives 2.5 * n if 5 * most is at most 2^24 (f32).
Id exact_sum(Graph& g, DType d, std::span<const Repeated> numbers, std::int64_t most);

}  // namespace kiln::compiler
