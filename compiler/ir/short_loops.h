// Loops of a few iterations inside all others (the components of a vector, the rows and columns of a small matrix): lowering
// writes them out, so that their iterations share in registers what does not differ between them.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

inline constexpr std::int64_t max_short_iterations = 16;

// loops: outermost first. How many stand outside of the innermost LOOP ranges that have constant extents and together no more
// than max_short_iterations. The outermost loop that turns is never one of these: its iterations are shared among threads.
inline std::size_t long_loops(const Graph& g, std::span<const Id> loops) {
  const auto extent = [&](std::size_t i) {
    const Id e = g.src(loops[i], 0);
    return g.is_const(e) ? g.arg(e, 0) : max_short_iterations + 1;
  };
  const auto is_loop = [&](std::size_t i) { return static_cast<RangeKind>(g.arg(loops[i], 1)) == RangeKind::loop; };
  std::size_t outermost = 0, n = 0;
  while (outermost < loops.size() && extent(outermost) == 1) ++outermost;
  while (n < loops.size() && is_loop(n)) ++n;
  for (std::int64_t together = 1; n > outermost + 1; --n) {
    const std::int64_t e = extent(n - 1);
    if (e > max_short_iterations || e < 1 || together * e > max_short_iterations) break;
    together *= e;
  }
  return n;
}

}  // namespace kiln::compiler
