#include "compiler/lower/stores_in_reductions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "compiler/ir/reduce_identity.h"
#include "compiler/lower/access.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/reduce_form.h"
#include "compiler/symbolic/simplify.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

// The RANGEs of a tile step. An END may have the constant 0 in the place of a RANGE (drop_unit_ranges.h).
std::vector<Id> ranges_of(const Graph& g, Id tile_step) {
  const Id end = g.src(tile_step).front();
  std::vector<Id> out = g.op(end) == Op::END ? g.sources(end, 1) : std::vector<Id>();
  std::erase_if(out, [&](Id r) { return g.op(r) != Op::RANGE; });
  return out;
}

Id store_of(const Graph& g, Id effect) { return g.op(effect) == Op::END ? g.store(effect) : effect; }

// The buffers that nodes load from, or store to.
std::set<std::size_t> slots(const Graph& g, std::span<const Id> roots, Op access) {
  std::set<std::size_t> out;
  for (const Id id : g.reachable(roots))
    if (g.op(id) == access) out.insert(g.slot(g.state(id)));
  return out;
}

bool meet(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  return std::ranges::any_of(a, [&](std::size_t x) { return b.contains(x); });
}

class Joiner {
 public:
  Joiner(Graph& g, const Lowering& k, StoresInReductions& stores)
      : g_(g), facts_(k.facts), at_entry_(k.at_entry), simplify_(g, k.facts), stores_(stores) {}

  std::vector<Id> run(std::vector<Id> steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      while (i > 0 && before(steps[i - 1], steps[i])) steps.erase(steps.begin() + std::ptrdiff_t(--i));
      while (i + 1 < steps.size() && after(steps[i], steps[i + 1])) steps.erase(steps.begin() + std::ptrdiff_t(i) + 1);
    }
    return steps;
  }

 private:
  struct Match {
    Id reduce, range;  // the REDUCE, and the range of the tile step that joins
  };

  // The REDUCE of a tile step whose loop has an iteration for each element of the other one.
  std::optional<Match> match(Id step, Id other) const {
    const std::vector<Id> outer = ranges_of(g_, step), ranges = ranges_of(g_, other);
    if (ranges.size() != outer.size() + 1 || !std::equal(outer.begin(), outer.end(), ranges.begin())) return std::nullopt;
    const std::vector<Id> nodes = g_.reachable(other);
    if (std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::REDUCE; })) return std::nullopt;
    if (loads_stores(nodes)) return std::nullopt;
    const std::unordered_set<Id> always = always_computed(step);
    for (const Id id : g_.reachable(step))
      if (always.contains(id) && g_.op(id) == Op::REDUCE && is_loop_over_vectors(step, id) &&
          g_.end(g_.src(id).back()) == g_.end(ranges.back()))
        return Match{id, ranges.back()};
    return std::nullopt;
  }

  // The nodes that each element of the tile step needs: not those for which a WHERE decides. A part of the iterations may be
  // without their loops (range_parts.h).
  std::unordered_set<Id> always_computed(Id step) const {
    std::unordered_set<Id> seen;
    std::vector<Id> todo = {step};
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!seen.insert(id).second) continue;
      const auto src = g_.src(id).first(g_.op(id) == Op::WHERE ? 1 : g_.src(id).size());
      todo.insert(todo.end(), src.begin(), src.end());
    }
    return seen;
  }

  // Whether a tile step loads from a buffer that it stores, and not only the element that it changes in place.
  bool loads_stores(const std::vector<Id>& nodes) const {
    for (const Id store : nodes)
      for (const Id load : nodes)
        if (g_.op(store) == Op::STORE && g_.op(load) == Op::LOAD && g_.state(load) == g_.state(store) &&
            (!at_entry_[g_.slot(g_.state(store))] || index_of(g_, load) != index_of(g_, store)))
          return true;
    return false;
  }

  bool is_loop_over_vectors(Id step, Id reduce) const {
    const std::size_t n = operands_of(g_.reduce_kind(reduce));
    const auto src = g_.src(reduce);
    Reduction r{g_.reduce_kind(reduce),
                g_.reduce_order(reduce),
                {src.begin(), src.begin() + std::ptrdiff_t(n)},
                {},
                accumulation_dtype(g_.dtype(src[0])),
                {}};
    if (src.size() != n + 1 || g_.op(src[n]) != Op::RANGE || r.is_arg()) return false;
    r.ranges = {src[n]};
    const std::vector<Id> ranges = ranges_of(g_, step);
    const ReduceForm form(g_, facts_, loops_around(g_, step), ranges.empty() ? no_id : ranges.front());
    if (form.is_small(r) || form.fit_pairs(r) || !form.is_striped(r) || form.stripes_of(r) != Stripes::vector) return false;
    for (const Id id : g_.reachable(step)) {
      if (g_.op(id) != Op::REDUCE) continue;
      const std::vector<Id> values = g_.reachable(g_.src(id).first(operands_of(g_.reduce_kind(id))));
      if (id == reduce ? std::ranges::any_of(values, [&](Id v) { return g_.op(v) == Op::REDUCE; })
                       : std::ranges::binary_search(values, reduce))
        return false;
    }
    return true;
  }

  // The STOREs of a tile step over the range of the REDUCE.
  std::vector<Id> over(const Match& m, Id step) {
    std::vector<Id> out;
    for (const Id effect : g_.src(step))
      out.push_back(simplify_(substitute(g_, store_of(g_, effect), {{m.range, g_.src(m.reduce).back()}})));
    return out;
  }

  // The tile step with its REDUCEs' STOREs.
  std::vector<Id> with_stores(Id step) const {
    std::vector<Id> out{step};
    for (const Id id : g_.reachable(step))
      if (const auto it = stores_.find(id); it != stores_.end()) out.insert(out.end(), it->second.begin(), it->second.end());
    return out;
  }

  bool after(Id step, Id other) {
    const auto m = match(step, other);
    if (!m) return false;
    const std::vector<Id> all = with_stores(step);
    if (all.size() + g_.src(other).size() > most_stores_of_loop + 1) return false;
    if (meet(slots(g_, all, Op::STORE), slots(g_, {{other}}, Op::LOAD)) ||
        meet(slots(g_, all, Op::LOAD), slots(g_, {{other}}, Op::STORE)))
      return false;
    const std::vector<Id> more = over(*m, other);
    std::vector<Id>& stores = stores_[m->reduce];
    stores.insert(stores.end(), more.begin(), more.end());
    return true;
  }

  // The loads of the elements that the other tile step stores become the values.
  bool before(Id other, Id& step) {
    const auto m = match(step, other);
    if (!m) return false;
    const std::vector<Id> all = with_stores(step), more = over(*m, other);
    if (all.size() + more.size() > most_stores_of_loop + 1) return false;
    if (meet(slots(g_, all, Op::STORE), slots(g_, {{other}}, Op::LOAD))) return false;
    std::unordered_map<Id, Id> values;
    for (const Id id : g_.reachable(all)) {
      if (g_.op(id) != Op::LOAD) continue;
      for (const Id store : more) {
        if (g_.state(store) != g_.state(id)) continue;
        if (g_.src(id).size() > 2 || g_.src(store).size() > 3 || g_.dtype(id) != g_.dtype(value_of(g_, store)) ||
            simplify_(index_of(g_, id)) != index_of(g_, store))
          return false;
        values[id] = value_of(g_, store);
      }
    }
    if (!stay_loops_over_vectors(step, m->reduce, values)) return false;
    replace(step, values);
    const Id reduce = moved_.contains(m->reduce) ? moved_.at(m->reduce) : m->reduce;
    std::vector<Id>& stores = stores_[reduce];
    stores.insert(stores.begin(), more.begin(), more.end());
    return true;
  }

  // Whether the REDUCEs with STOREs, and this one, are loops over vectors also with other values, which may load nothing.
  bool stay_loops_over_vectors(Id step, Id reduce, const std::unordered_map<Id, Id>& values) {
    const Id now = substitute(g_, step, values);
    return std::ranges::all_of(g_.reachable(step), [&](Id id) {
      return (id != reduce && !stores_.contains(id)) || is_loop_over_vectors(now, substitute(g_, id, values));
    });
  }

  // Replaces values in a tile step and in the STOREs of its REDUCEs.
  void replace(Id& step, const std::unordered_map<Id, Id>& values) {
    moved_.clear();
    if (values.empty()) return;
    const std::vector<Id> nodes = g_.reachable(step);
    for (const Id id : nodes)
      if (g_.op(id) == Op::REDUCE) {
        const Id now = substitute(g_, id, values);
        moved_[id] = now;
        const auto it = stores_.find(id);
        if (it == stores_.end()) continue;
        std::vector<Id> stores;
        for (const Id s : it->second) stores.push_back(substitute(g_, s, values));
        stores_.erase(it);
        stores_[now] = stores;
      }
    step = substitute(g_, step, values);
  }

  Graph& g_;
  const Facts& facts_;
  const std::vector<bool>& at_entry_;  // by slot
  Simplifier simplify_;
  StoresInReductions& stores_;
  std::unordered_map<Id, Id> moved_;  // by REDUCE before the last replacement: the REDUCE after it
};

}  // namespace

std::vector<Id> stores_in_reductions(Graph& g, const Lowering& k, StoresInReductions& stores) {
  return Joiner(g, k, stores).run(k.tile_steps);
}

}  // namespace kiln::compiler
