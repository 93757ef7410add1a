// One REDUCE without its loops, as far as possible.
#pragma once

#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

inline constexpr std::int64_t longest_progression = std::int64_t{1} << 30;  // whose sum of positions fits an index value

// The same value; `reduce` itself when nothing is known. `assumed`: a condition that the simplifier's facts have and the
// program may break; then the value means nothing, but it is still safe to compute.
Id collapsed(Graph& g, Simplifier& simplify, Id reduce, Id assumed = no_id);

}  // namespace kiln::compiler
