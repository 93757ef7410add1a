#include "compiler/lower/rewrite.h"

#include <algorithm>
#include <unordered_set>

namespace kiln::compiler {

std::vector<Id> walk(const Graph& g, std::span<const Id> roots) {
  std::unordered_set<Id> seen;
  std::vector<Id> found;
  const auto visit = [&](Id id) {
    if (seen.insert(id).second) found.push_back(id);
  };
  for (const Id r : roots) visit(r);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Id s : g.src(found[i])) visit(s);
  std::ranges::sort(found);
  return found;
}

LoopIds::LoopIds(const Graph& g, Id sink) {
  const Id roots[] = {sink};
  for (const Id id : walk(g, roots))
    if (g.op(id) == Op::RANGE) next_ = std::max(next_, g.arg(id, 0) + 1);
}

Id LoopIds::range(Graph& g, Id end, RangeKind kind) {
  return g.make(Op::RANGE, DType::index, {end}, {next_++, static_cast<std::int64_t>(kind)});
}

}  // namespace kiln::compiler
