#include "compiler/lower/rewrite.h"

#include <algorithm>

namespace kiln::compiler {

Id loop_of(const Graph& g, Id sink, Id range) {
  const std::vector<Id> nodes = g.reachable(sink);
  return *std::ranges::find_if(nodes, [&](Id id) { return g.op(id) == Op::FOR && g.src(id, 0) == range; });
}

LoopIds::LoopIds(const Graph& g, Id sink) {
  for (const Id id : g.reachable(sink))
    if (g.op(id) == Op::RANGE) next_ = std::max(next_, g.arg(id, 0) + 1);
}

Id LoopIds::range(Graph& g, Id end, RangeKind kind) {
  return g.make(Op::RANGE, DType::index, {end}, {next_++, static_cast<std::int64_t>(kind)});
}

}  // namespace kiln::compiler
