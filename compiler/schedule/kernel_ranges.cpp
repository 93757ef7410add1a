#include "compiler/schedule/kernel_ranges.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

std::vector<Id> loop_ranges_of(const Graph& g, const Kernel& k) { return g.sources(g.src(k.sink).front(), 1); }

bool varies_only_over(const Graph& g, const std::vector<Id>& nodes, const std::vector<Id>& loops, Id r) {
  return std::ranges::none_of(nodes, [&](Id id) {
    if (g.op(id) == Op::REDUCE) return true;
    return g.op(id) == Op::RANGE && id != r && std::ranges::find(loops, id) == loops.end();
  });
}

Id sink_of_store(Graph& g, Id buffer, Id index, Id value, std::span<const Id> ranges) {
  std::vector<Id> end{g.make(Op::STORE, DType::none, {buffer, index, value})};
  end.insert(end.end(), ranges.begin(), ranges.end());
  return g.make(Op::SINK, DType::none, {g.make(Op::END, DType::none, end)});
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

void rewrite_kernel(Graph& g, Kernel& k, const RangeChange& change) {
  std::unordered_map<Id, Id> now;
  for (const Id id : g.reachable(k.sink)) {
    if (const auto at = change.values.find(id); at != change.values.end()) {
      now[id] = at->second;
      continue;
    }
    const bool closes = g.op(id) == Op::REDUCE || g.op(id) == Op::END;
    const std::vector<Id> old = g.sources(id);
    std::vector<Id> src;
    for (const Id s : old) {
      const auto loops = closes ? change.loops.find(s) : change.loops.end();
      if (loops == change.loops.end())
        src.push_back(now.at(s));
      else
        src.insert(src.end(), loops->second.begin(), loops->second.end());
    }
    if (g.op(id) == Op::END && change.outermost != no_id) src.insert(src.begin() + 1, change.outermost);
    now[id] = g.with_src(id, src);
  }
  k.sink = now.at(k.sink);
}

void simplify_uses(Graph& g, Kernel& k, Simplifier& simplify) {
  std::unordered_map<Id, Id> now;
  for (const Id id : g.reachable(k.sink)) {
    if (g.dtype(id) == DType::index) continue;
    const bool closes = g.op(id) == Op::REDUCE || g.op(id) == Op::END;
    std::vector<Id> src = g.sources(id);
    for (Id& s : src)
      if (g.dtype(s) != DType::index)
        s = now.at(s);
      else if (!closes)
        s = simplify(s);
    now[id] = g.with_src(id, src);
  }
  k.sink = now.at(k.sink);
}

void run_if(Graph& g, Kernel& k, Id factor) {
  RangeIds ids(g, k.sink);
  const std::vector<Id> loops = loop_ranges_of(g, k);
  const Id end = loops.empty() ? factor : index_mul(g, g.end(loops.front()), factor);
  const Id range = ids.range(g, end, RangeKind::loop);
  if (loops.empty()) return rewrite_kernel(g, k, {.values = {}, .loops = {}, .outermost = range});
  rewrite_kernel(g, k, {.values = {{loops.front(), range}}, .loops = {{loops.front(), {range}}}});
}

void number_ranges(Graph& g, Kernel& k) {
  RangeChange change;
  std::int64_t next = 0;
  const auto renumber = [&](Id r) {
    const Id old = g.end(r);
    const Id end = g.src(old).empty() ? old : substitute(g, old, change.values);  // may use an outer range
    const Id made = g.range(end, next++, g.range_kind(r));
    if (made == r) return;
    change.values[r] = made;
    change.loops[r] = {made};
  };
  const std::vector<Id> loops = loop_ranges_of(g, k);
  for (const Id r : loops) renumber(r);
  for (const Id id : g.reachable(k.sink))
    if (g.op(id) == Op::RANGE && std::ranges::find(loops, id) == loops.end()) renumber(id);
  if (!change.values.empty()) rewrite_kernel(g, k, change);
}

std::optional<std::int64_t> distance_along(const Graph& g, Id index, Id range) {
  const std::vector<Id> nodes = g.reachable(index);
  if (!std::ranges::binary_search(nodes, range)) return 0;
  const std::optional<Poly> p = symbolic::sum_of(g, index);
  if (!p) return std::nullopt;
  const SplitAt split = split_at(*p, range);
  const bool once = std::ranges::none_of(split.rest, [&](const Monomial& m) {
    const std::vector<Id> below = g.reachable(m.atoms);
    return std::ranges::binary_search(below, range);
  });
  return once && !split.square ? constant_of(split.factor) : std::nullopt;
}

void drop_unit_loops(Graph& g, Kernel& k, Simplifier& simplify) {
  const std::vector<Id> loops = loop_ranges_of(g, k);
  RangeChange change;
  for (const Id r : loops)
    if (g.is_index_const(g.end(r), 1) && change.loops.size() + 1 < loops.size()) {
      change.values[r] = g.index(0);
      change.loops[r] = {};
    }
  if (change.loops.empty()) return;
  rewrite_kernel(g, k, change);
  simplify_uses(g, k, simplify);
  number_ranges(g, k);
}

bool are_of_the_call(const Graph& g, const Program& p, std::span<const Id> expressions) {
  return std::ranges::all_of(g.reachable(expressions), [&](Id id) {
    if (g.op(id) == Op::RANGE) return false;
    return g.op(id) != Op::SYM || std::ranges::any_of(p.symbols, [&](const Symbol& s) {
             return s.name == g.name(id) && (s.kind == Symbol::Kind::extent || s.kind == Symbol::Kind::stride);
           });
  });
}

Id at_least(Graph& g, Id value, std::int64_t least) {
  const Id above = index_sub(g, value, g.index(least - 1)), zero = g.index(0), one = g.index(1);
  return index_min(g, one, index_max(g, zero, above));
}

}  // namespace kiln::compiler
