#include "compiler/lower/rewrite.h"

#include <algorithm>

#include "compiler/ir/open_ranges.h"

namespace kiln::compiler {

std::unordered_set<Id> depends_on_range(const Graph& g, std::span<const Id> nodes, Id range) {
  std::unordered_set<Id> inside{range};
  for (std::size_t before = 0; before != inside.size();) {  // until no RANGE of an inner loop is new
    before = inside.size();
    for (const Id id : nodes) {
      if (std::ranges::none_of(g.src(id), [&](Id s) { return inside.contains(s); })) continue;
      inside.insert(id);
      if (g.op(id) == Op::FOR) inside.insert(g.range_of(id));
    }
  }
  return inside;
}

std::unordered_map<Id, std::vector<Id>> nodes_by_range(const Graph& g, std::span<const Id> nodes) {
  std::unordered_map<Id, std::vector<Id>> inside;
  OpenRanges open(g);
  for (const Id id : nodes) {
    open.visit(id);
    for (const Id range : open.of(id)) inside[range].push_back(id);
  }
  return inside;
}

Id loop_of(const Graph& g, Id sink, Id range) {
  const std::vector<Id> nodes = g.reachable(sink);
  return *std::ranges::find_if(nodes, [&](Id id) { return g.op(id) == Op::FOR && g.range_of(id) == range; });
}

}  // namespace kiln::compiler
