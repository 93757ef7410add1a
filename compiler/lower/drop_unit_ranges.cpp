#include "compiler/lower/drop_unit_ranges.h"

#include <algorithm>

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

std::vector<Id> loops_of(const Graph& g, Id sink) {
  const auto effects = g.src(sink);
  if (effects.empty() || g.op(effects[0]) != Op::END) return {};
  std::vector<Id> out;
  for (const Id r : g.src(effects[0]).subspan(1))
    if (g.op(r) == Op::RANGE) out.push_back(r);
  return out;
}

Id drop_unit_ranges(Graph& g, Id sink) {
  const std::vector<Id> loops = loops_of(g, sink);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const bool unit = g.op(id) == Op::RANGE && g.is_index_const(x[0], 1);
    return unit && (g.range_kind(id) == RangeKind::reduce || std::ranges::find(loops, id) != loops.end()) ? g.index(0) : no_id;
  });
}

}  // namespace kiln::compiler
