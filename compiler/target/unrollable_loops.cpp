#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

bool is_loop(const Graph& g, Id range) { return g.range_kind(range) == RangeKind::loop; }

// The extent of a range; more than max_short_iterations if it is not constant.
std::int64_t constant_extent(const Graph& g, Id range) {
  const Id end = g.end(range);
  return g.is_const(end) ? g.value(end) : max_short_iterations + 1;
}

}  // namespace

std::size_t long_loops(const Graph& g, std::span<const Id> loops) {
  const auto extent = [&](std::size_t i) { return constant_extent(g, loops[i]); };
  std::size_t outermost = 0, n = 0;
  while (outermost < loops.size() && extent(outermost) == 1) ++outermost;
  while (n < loops.size() && is_loop(g, loops[n])) ++n;
  for (std::int64_t together = 1; n > outermost + 1; --n) {
    const std::int64_t e = extent(n - 1);
    if (e > max_short_iterations || e < 1 || together * e > max_short_iterations) break;
    together *= e;
  }
  return n;
}

std::vector<Id> short_last(const Graph& g, std::span<const Id> loops) {
  std::size_t n = 0;
  while (n < loops.size() && is_loop(g, loops[n])) ++n;
  std::vector<Id> outer, inner;
  std::int64_t together = 1;
  for (std::size_t i = n; i-- > 0;) {
    const std::int64_t e = constant_extent(g, loops[i]);
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
