#include "compiler/schedule/kernel_ranges.h"

#include <algorithm>
#include <unordered_set>

namespace kiln::compiler {

std::vector<Id> loop_ranges_of(const Graph& g, const Kernel& k) {
  const Id end = g.src(k.sink, 0);
  return {g.src(end).begin() + 1, g.src(end).end()};
}

std::vector<Id> index_roots(const Graph& g, const std::vector<Id>& nodes) {
  std::unordered_set<Id> seen;
  std::vector<Id> out;
  for (const Id id : nodes) {
    if (g.dtype(id) == DType::index || g.op(id) == Op::END || g.op(id) == Op::REDUCE) continue;
    for (const Id s : g.src(id))
      if (g.dtype(s) == DType::index && seen.insert(s).second) out.push_back(s);
  }
  return out;
}

void rebuild_kernel(Graph& g, Kernel& k, const std::vector<Id>& loops, const std::unordered_map<Id, Id>& map) {
  std::vector<Id> ends;
  const Id replaced = substitute(g, k.sink, map);
  const std::vector<Id> old(g.src(replaced).begin(), g.src(replaced).end());
  for (const Id end : old) {
    std::vector<Id> src{g.src(end, 0)};
    src.insert(src.end(), loops.begin(), loops.end());
    ends.push_back(g.with_src(end, src));
  }
  k.sink = g.make(Op::SINK, DType::none, ends);
}

void number_ranges(Graph& g, Kernel& k) {
  std::unordered_map<Id, Id> map;
  std::int64_t next = 0;
  const auto renumber = [&](Id r) {
    const Id end = g.src(g.src(r, 0)).empty() ? g.src(r, 0) : substitute(g, g.src(r, 0), map);  // may use an outer range
    const Id made = g.make(Op::RANGE, DType::index, {end}, {next++, g.arg(r, 1)});
    if (made != r) map[r] = made;
    return made;
  };
  const std::vector<Id> old = loop_ranges_of(g, k);
  std::vector<Id> loops = old;
  for (Id& r : loops) r = renumber(r);
  const Id roots[] = {k.sink};
  for (const Id id : g.reachable(roots))
    if (g.op(id) == Op::RANGE && std::ranges::find(old, id) == old.end()) renumber(id);
  if (!map.empty()) rebuild_kernel(g, k, loops, map);
}

}  // namespace kiln::compiler
