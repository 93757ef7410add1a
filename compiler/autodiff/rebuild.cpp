#include "compiler/autodiff/rebuild.h"

#include <algorithm>

#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// The nodes that depend on a leaf. A scope that depends makes its RANGEs depend. A CARRY of a scope around the roots stays, and
// so does what only depends through it: the scope still begins with the old values.
std::unordered_set<Id> changing(const Graph& g, std::span<const Id> all, const std::unordered_set<Id>& leaves) {
  std::unordered_set<Id> out = leaves, ranges;
  for (const Id id : all)
    if (is_scope(g.op(id)))
      for (const Id r : scope_ranges(g, id)) ranges.insert(r);
  const auto is_around = [&](Id id) { return g.op(id) == Op::CARRY && !ranges.contains(g.range_of(id)); };
  for (std::size_t before = all.size() + 1; before != out.size();) {
    before = out.size();
    for (const Id id : all) {
      if (!out.contains(id) && (is_around(id) || std::ranges::none_of(g.src(id), [&](Id s) { return out.contains(s); })))
        continue;
      out.insert(id);
      if (!is_scope(g.op(id))) continue;
      for (const Id r : scope_ranges(g, id)) out.insert(r);
    }
  }
  return out;
}

}  // namespace

void rebuild(Rules& rules, std::span<Id> roots, const std::unordered_set<Id>& leaves,
             const std::function<Id(Id node, Id copy)>& replace) {
  Graph& g = rules.e.g;
  const std::vector<Id> all = g.reachable(roots);
  const std::unordered_set<Id> changes = changing(g, all, leaves);
  std::unordered_map<Id, Id> made;
  for (const Id id : all) {
    if (!changes.contains(id)) continue;
    const LocScope of_node(g, g.loc(id));
    std::vector<Id> src = g.sources(id);
    for (Id& s : src)
      if (const auto at = made.find(s); at != made.end()) s = at->second;
    const Id copy = g.op(id) == Op::RANGE ? rules.fresh(id, src[0]) : g.with_src(id, src);
    made[id] = leaves.contains(id) ? replace(id, copy) : copy;
  }
  for (Id& root : roots)
    if (const auto at = made.find(root); at != made.end()) root = at->second;
}

}  // namespace kiln::compiler::autodiff
