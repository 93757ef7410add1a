// Finds short loops: innermost loops of a few iterations, such as the components of a vector or the rows and columns of a small
// matrix. Lowering writes them out, so that their iterations share values in registers.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

inline constexpr std::int64_t max_short_iterations = 16;

// The number of loops around the short loops. loops: outermost first. Short loops are the innermost LOOP ranges that have
// constant extents and together at most max_short_iterations iterations. The outermost loop with more than one iteration is
// never short, because threads share its iterations.
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

// The loops in another order: short loops around a long loop, as for planes of components, become innermost.
inline std::vector<Id> short_last(const Graph& g, std::span<const Id> loops) {
  std::size_t n = 0;
  while (n < loops.size() && static_cast<RangeKind>(g.arg(loops[n], 1)) == RangeKind::loop) ++n;
  std::vector<Id> outer, inner;
  std::int64_t together = 1;
  for (std::size_t i = n; i-- > 0;) {
    const Id end = g.src(loops[i], 0);
    const std::int64_t e = g.is_const(end) ? g.arg(end, 0) : max_short_iterations + 1;
    const bool is_short = e >= 1 && e <= max_short_iterations && together * e <= max_short_iterations;
    if (is_short) together *= e;
    (is_short ? inner : outer).push_back(loops[i]);
  }
  if (outer.empty()) return {loops.begin(), loops.end()};
  std::vector<Id> out(outer.rbegin(), outer.rend());
  out.insert(out.end(), inner.rbegin(), inner.rend());
  out.insert(out.end(), loops.begin() + static_cast<std::ptrdiff_t>(n), loops.end());
  return out;
}

}  // namespace kiln::compiler
