// Rewrites of whole sums and chains of one operation, declared in rules.h.
#include <algorithm>
#include <unordered_map>

#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {
namespace {

bool in_sum(const Graph& g, Id node) { return is_linear(g, node); }

void sum_leaves(const Graph& g, Id root, std::vector<Id>& out) {
  Linear l;
  if (!collect(g, root, l)) {
    out.assign(g.src(root).begin(), g.src(root).end());
    return;
  }
  for (const auto& [leaf, k] : l.leaves) out.push_back(leaf);
}

// The final form of a leaf. A leaf without an entry is part of a leaf that is final as a whole, so it is final itself.
Id done(const IdMap<Id>& final, Id id) {
  const Id* const to = final.find(id);
  return to != nullptr ? *to : id;
}

// A sum that overflows keeps its form; only its leaves are replaced by their final forms.
Id as_written(RewriteContext& c, Id root, const IdMap<Id>& final) {
  std::vector<Id> leaves;
  sum_leaves(c.g, root, leaves);
  std::unordered_map<Id, Id> replaced;
  for (Id leaf : leaves) {
    const Id now = done(final, leaf);
    const Interval i = c.bounds(now);
    replaced.emplace(leaf, i.single() ? c.g.index(i.min) : now);
  }
  return substitute(c.g, root, replaced);
}

Id rebuild_sum(RewriteContext& c, Id root, const IdMap<Id>& final);

// The sum may not overflow any more after its leaves are simplified.
Id overflowing(RewriteContext& c, Id root, const IdMap<Id>& final) {
  const Id now = as_written(c, root, final);
  Linear l;
  return now != root && collect(c.g, now, l) ? rebuild_sum(c, now, final) : now;
}

Id rebuild_sum(RewriteContext& c, Id root, const IdMap<Id>& final) {
  Linear l;
  if (!collect(c.g, root, l)) return overflowing(c, root, final);
  Poly s;
  s.reserve(l.leaves.size() + 1);
  if (l.constant != 0) s.push_back({l.constant, {}});
  for (const auto& [leaf, k] : l.leaves) {
    const Id now = done(final, leaf);
    if (const Interval i = c.bounds(now); i.single()) {
      std::int64_t v = 0;
      if (__builtin_mul_overflow(i.min, k, &v)) return overflowing(c, root, final);
      s.push_back({v, {}});
    } else if (!is_linear(c.g, now) && c.g.op(now) != Op::MUL && !is_index_const(c.g, now)) {
      s.push_back({k, {now}});
    } else {
      const Poly* of = c.sum(now);
      const auto part = of != nullptr ? scaled(*of, k) : std::nullopt;
      if (!part) return overflowing(c, root, final);
      s.insert(s.end(), part->begin(), part->end());
    }
  }
  return normalise(c.g, s) ? c.keep(std::move(s)) : overflowing(c, root, final);
}

bool in_product(const Graph& g, Id node) { return g.op(node) == Op::MUL && is_index(g, node); }

void product_leaves(const Graph& g, Id root, std::vector<Id>& out) {
  Atoms factors;
  if (factors_of(g, root, factors))
    out.assign(factors.begin(), factors.end());
  else
    out = g.sources(root);
}

Id rebuild_product(RewriteContext& c, Id root, const IdMap<Id>& final) {
  std::vector<Id> leaves;
  product_leaves(c.g, root, leaves);
  for (Id& f : leaves) {
    f = final.at(f);
    if (const Interval i = c.bounds(f); i.single()) f = c.g.index(i.min);
  }
  std::ranges::sort(leaves, [&](Id a, Id b) { return atom_less(c.g, a, b); });  // one order, in case the product overflows
  const auto is_atom = [&](Id f) { return c.g.op(f) != Op::MUL && !is_linear(c.g, f) && !is_index_const(c.g, f); };
  if (std::ranges::all_of(leaves, is_atom)) return c.keep({{1, leaves}});
  Id all = leaves[0];
  for (std::size_t i = 1; i < leaves.size(); ++i) all = c.g.make(Op::MUL, DType::index, {all, leaves[i]});
  const Poly* s = c.sum(all);
  return s != nullptr ? c.node(*s) : all;
}

template <Op op>
bool in_logic(const Graph& g, Id node) {
  return g.op(node) == op && is_bool(g, node);
}

// Lists each clause once, even if it is shared.
template <Op op>
void clauses(const Graph& g, Id root, std::vector<Id>& out) {
  std::vector<Id> open{root};
  while (!open.empty()) {  // largest id first, so equal ids are adjacent
    std::ranges::pop_heap(open);
    const Id id = open.back();
    open.pop_back();
    while (!open.empty() && open.front() == id) {
      std::ranges::pop_heap(open);
      open.pop_back();
    }
    if (!in_logic<op>(g, id)) {
      out.push_back(id);
      continue;
    }
    for (Id s : g.src(id)) {
      open.push_back(s);
      std::ranges::push_heap(open);
    }
  }
}

template <Op op>
Id rebuild_logic(RewriteContext& c, Id root, const IdMap<Id>& final) {
  constexpr bool neutral = op == Op::AND;
  std::vector<Id> old, now, part;
  clauses<op>(c.g, root, old);
  for (Id id : old) {
    part.clear();
    clauses<op>(c.g, final.at(id), part);  // the final form of a clause may be a chain
    now.insert(now.end(), part.begin(), part.end());
  }
  std::ranges::sort(now, [&](Id a, Id b) { return c.g[a].hash != c.g[b].hash ? c.g[a].hash < c.g[b].hash : a < b; });
  now.erase(std::unique(now.begin(), now.end()), now.end());
  Id all = no_id;
  for (Id id : now) {
    if (const Interval i = c.bounds(id); i.single()) {
      if ((i.min != 0) != neutral) return truth(c.g, !neutral);
      continue;
    }
    all = all == no_id ? id : c.g.make(op, DType::boolean, {all, id});
  }
  return all == no_id ? truth(c.g, neutral) : all;
}

constexpr Chain chains[] = {
    {{"sum", "a + b + c", "", "c + b + a"}, in_sum, sum_leaves, rebuild_sum},
    {{"product", "a * (b + c)", "", "a * b + a * c"}, in_product, product_leaves, rebuild_product},
    {{"conjunction", "p and q and p", "", "p and q"}, in_logic<Op::AND>, clauses<Op::AND>, rebuild_logic<Op::AND>},
    {{"disjunction", "p or q or p", "", "p or q"}, in_logic<Op::OR>, clauses<Op::OR>, rebuild_logic<Op::OR>},
};

}  // namespace

std::span<const Chain> simplify_chains() { return chains; }

}  // namespace kiln::compiler::symbolic
