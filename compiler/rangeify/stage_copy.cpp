#include "compiler/rangeify/stage_copy.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {

GatedIndex gated_index(const Graph& g, Id access) {
  GatedIndex out{{g.src(access).begin() + 1, g.src(access).end()}, no_id};
  if (out.index.empty() || g.op(out.index[0]) != Op::WHERE || g.op(g.src(out.index[0], 2)) != Op::INVALID) return out;
  out.gate = g.src(out.index[0], 0);
  out.index[0] = g.src(out.index[0], 1);
  return out;
}

Id access_of_tensor(Graph& g, Id tensor, GatedIndex at) {
  std::vector<Id> src{tensor};
  src.insert(src.end(), at.index.begin(), at.index.end());
  if (at.gate != no_id && src.size() > 1)
    src[1] = g.make(Op::WHERE, DType::index, {at.gate, src[1], g.make(Op::INVALID, DType::index, {})});
  return g.make(Op::INDEX, g.dtype(tensor), src);
}

ValueCopies::ValueCopies(Graph& g, const Program& p) : g_(g), facts_(facts_of(p)), simplify_(g, facts_) {
  const Id roots[] = {p.sink};
  for (const Id id : g.reachable(roots))
    if (g.op(id) == Op::RANGE) next_range_ = std::max(next_range_, g.arg(id, 0) + 1);
}

// Ascending, without what is below other stages.
std::vector<Id> ValueCopies::nodes_of(Id value) const {
  std::vector<Id> todo{value}, found;
  std::unordered_set<Id> seen{value};
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    found.push_back(id);
    if (g_.op(id) == Op::STAGE || g_.op(id) == Op::PARAM) continue;
    for (const Id s : g_.src(id))
      if (seen.insert(s).second) todo.push_back(s);
  }
  std::ranges::sort(found);
  return found;
}

// Index arithmetic alone: an element of a stage must stay the element of that very stage.
Id ValueCopies::simple(Id index) {
  const std::vector<Id> nodes = nodes_of(index);
  return std::ranges::any_of(nodes, [&](Id n) { return g_.op(n) == Op::INDEX; }) ? index : simplify_(index);
}

Id ValueCopies::make(Id value, const std::unordered_map<Id, Id>& place, Id gate) {
  std::unordered_map<Id, Id> now;
  for (const Id id : nodes_of(value)) {
    if (const auto at = place.find(id); at != place.end()) {
      now[id] = at->second;
      continue;
    }
    const bool loop = g_.op(id) == Op::RANGE && static_cast<RangeKind>(g_.arg(id, 1)) == RangeKind::loop;
    if (loop || g_.op(id) == Op::STAGE || g_.op(id) == Op::PARAM) {
      now[id] = id;
      continue;
    }
    std::vector<Id> src(g_.src(id).begin(), g_.src(id).end());
    for (Id& s : src) s = now.at(s);
    if (g_.op(id) == Op::RANGE) {
      now[id] = g_.make(Op::RANGE, DType::index, {src[0]}, {next_range_++, g_.arg(id, 1)});
    } else if (g_.op(id) == Op::INDEX) {
      GatedIndex at = gated_index(g_, g_.with_src(id, src));
      for (Id& i : at.index) i = simple(i);
      if (at.gate != no_id) at.gate = simple(at.gate);
      at.gate = both(g_, gate, at.gate);
      now[id] = access_of_tensor(g_, src[0], at);
    } else {
      now[id] = g_.with_src(id, src);
      if (is_comparison(g_.op(id)) && g_.dtype(src[0]) == DType::index) now[id] = simple(now[id]);
    }
  }
  return now.at(value);
}

}  // namespace kiln::compiler
