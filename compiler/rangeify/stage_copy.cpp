#include "compiler/rangeify/stage_copy.h"

#include <algorithm>

#include "compiler/ir/scopes.h"
#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {

GatedIndex gated_index(const Graph& g, Id access) {
  GatedIndex out{g.sources(access, 1), no_id};
  const auto [gate, first] = index_gate(g, access);
  out.gate = gate;
  if (!out.index.empty()) out.index[0] = first;
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
  for (const Id id : g.reachable(p.sink))
    if (g.op(id) == Op::RANGE) next_range_ = std::max(next_range_, g.range_number(id) + 1);
}

// The nodes of the value, ascending, without the nodes under other storage.
std::vector<Id> ValueCopies::nodes_of(Id value) const {
  std::vector<Id> todo{value}, found;
  std::unordered_set<Id> seen{value};
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    found.push_back(id);
    if (is_storage(g_, id)) continue;
    for (const Id s : g_.src(id))
      if (seen.insert(s).second) todo.push_back(s);
  }
  std::ranges::sort(found);
  return found;
}

// A reduction that changes gets new ranges, so the nodes that depend on its ranges change too.
std::unordered_set<Id> ValueCopies::changed_of(const std::vector<Id>& nodes, const std::unordered_map<Id, Id>& place,
                                               bool gated) const {
  std::unordered_set<Id> changed;
  std::size_t before = 0;
  do {
    before = changed.size();
    for (const Id id : nodes) {
      const Op op = g_.op(id);
      if (is_storage(g_, id)) continue;
      const bool moves = place.contains(id) || (gated && op == Op::INDEX) ||
                         std::ranges::any_of(g_.src(id), [&](Id s) { return changed.contains(s); });
      if (!moves || !changed.insert(id).second || op != Op::REDUCE) continue;
      for (const Id s : g_.src(id))
        if (g_.op(s) == Op::RANGE) changed.insert(s);
    }
  } while (changed.size() != before);
  return changed;
}

// Simplifies pure index arithmetic only: a load of a STAGE in the index must keep its STAGE node.
Id ValueCopies::simple(Id index) {
  const std::vector<Id> nodes = nodes_of(index);
  return std::ranges::any_of(nodes, [&](Id n) { return g_.op(n) == Op::INDEX; }) ? index : simplify_(index);
}

Id ValueCopies::make(Id value, const std::unordered_map<Id, Id>& place, Id gate) {
  std::unordered_map<Id, Id> now;
  const std::vector<Id> nodes = nodes_of(value);
  const std::unordered_set<Id> changed = changed_of(nodes, place, gate != no_id);
  for (const Id id : nodes) {
    if (const auto at = place.find(id); at != place.end()) {
      now[id] = at->second;
      continue;
    }
    if (!changed.contains(id)) {
      now[id] = id;
      continue;
    }
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src) s = now.at(s);
    if (g_.op(id) == Op::RANGE) {
      now[id] = g_.range(src[0], next_range_++, g_.range_kind(id));
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
