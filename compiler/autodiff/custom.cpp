#include "compiler/autodiff/custom.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// The nodes of the expression that can depend on `leaf`: sources have smaller ids than their users. Ascending.
std::vector<Id> nodes_above(const Graph& g, Id root, Id leaf) {
  std::unordered_set<Id> seen;
  std::vector<Id> stack{root};
  while (!stack.empty()) {
    const Id id = stack.back();
    stack.pop_back();
    if (id < leaf || !seen.insert(id).second) continue;
    for (const Id s : g.src(id)) stack.push_back(s);
  }
  std::vector<Id> out(seen.begin(), seen.end());
  std::ranges::sort(out);
  return out;
}

// A copy of the expression with another value in place of the leaf. Loops and kernels of the copy get RANGEs of their own.
Id replaced(Rules& rules, Id root, Id leaf, Id value) {
  Graph& g = rules.e.g;
  std::unordered_map<Id, Id> made{{leaf, value}};
  const std::vector<Id> all = nodes_above(g, root, leaf);
  std::unordered_set<Id> depends;
  for (std::size_t before = all.size() + 1; before != depends.size();) {  // a scope that depends makes its RANGEs depend
    before = depends.size();
    for (const Id id : all) {
      const auto src = g.src(id);
      const bool own = id == leaf || depends.contains(id);
      if (!own && std::ranges::none_of(src, [&](Id s) { return depends.contains(s); })) continue;
      depends.insert(id);
      if (!is_scope(g.op(id))) continue;
      for (const Id r : scope_ranges(g, id)) depends.insert(r);
    }
  }
  for (const Id id : g.reachable(root)) {
    if (!depends.contains(id) || id == leaf) continue;
    const LocScope of_node(g, g.loc(id));
    std::vector<Id> src = g.sources(id);
    for (Id& s : src)
      if (const auto at = made.find(s); at != made.end()) s = at->second;
    made[id] = g.op(id) == Op::RANGE ? rules.ranges.range(g, src[0], g.range_kind(id)) : g.with_src(id, src);
  }
  const auto at = made.find(root);
  return at == made.end() ? root : at->second;
}

}  // namespace

Id cotangent_of(Rules& rules, Id custom) {
  Graph& g = rules.e.g;
  const Id y = g.src(custom, 0);
  return rules.e.b.cotangent(g.dtype(y), rules.e.shape(y), g.arg(custom, 0));
}

Id custom_adjoint(Rules& rules, Id custom, std::size_t place, Id adjoint) {
  const Id leaf = cotangent_of(rules, custom);
  const std::size_t n = rules.e.g.src(custom).size() / 2;
  return replaced(rules, rules.e.g.src(custom, place + n), leaf, adjoint);
}

}  // namespace kiln::compiler::autodiff
