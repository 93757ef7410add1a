#include "compiler/lower/drop_unit_ranges.h"

#include <algorithm>

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

std::vector<Id> loops_of(const Graph& g, Id sink) {
  std::vector<Id> out;
  const Id first = g.src(sink).empty() ? no_id : g.src(sink, 0);
  if (first == no_id || g.op(first) != Op::END) return out;
  for (const Id r : g.src(first).subspan(1))
    if (g.op(r) == Op::RANGE) out.push_back(r);
  return out;
}

Id drop_unit_ranges(Graph& g, Id sink) {
  const std::vector<Id> loops = loops_of(g, sink);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const bool unit = g.op(id) == Op::RANGE && g.is_index_const(x[0], 1);
    return unit && (static_cast<RangeKind>(g.arg(id, 1)) == RangeKind::reduce || std::ranges::find(loops, id) != loops.end())
               ? g.index(0)
               : no_id;
  });
}

}  // namespace kiln::compiler
