// collapsed: computes one REDUCE without some or all of its loops. collapse_reductions.h lists the closed forms.
#pragma once

#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// Largest extent for which the sum of all iteration numbers fits an index value.
inline constexpr std::int64_t longest_progression = std::int64_t{1} << 30;

// The same value; `reduce` itself if no closed form is known. assumed: a condition among the simplifier's facts that may be
// false at run time. Where it is false the result is meaningless, but safe to compute: no load leaves its tensor.
Id collapsed(Graph& g, Simplifier& simplify, Id reduce, Id assumed = no_id);

}  // namespace kiln::compiler
