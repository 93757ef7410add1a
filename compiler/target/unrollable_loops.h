// Short loops: innermost loops of a few iterations, such as the components of a vector or the rows and columns of a small
// matrix. Lowering can unroll them, so that their iterations share values in registers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

inline constexpr std::int64_t max_short_iterations = 16;

// The number of loops around the short loops. loops: outermost first. Short loops are the innermost LOOP ranges that have
// constant extents and together at most max_short_iterations iterations. The outermost loop with more than one iteration is
// never short, because threads share its iterations.
std::size_t long_loops(const Graph& g, std::span<const Id> loops);

// The loops in another order: short loops around a long loop, as for planes of components, become innermost.
std::vector<Id> short_last(const Graph& g, std::span<const Id> loops);

}  // namespace kiln::compiler
