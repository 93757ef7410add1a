#include "compiler/ir/loop_scopes.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"

namespace kiln::compiler {
namespace {

// Interned sets of RANGEs that values depend on. Set 0 is empty. Kernels have few loops, so there are few sets.
class RangeSets {
 public:
  RangeSets() { intern({}); }

  std::size_t single(Id range) { return intern({range}); }

  std::size_t join(std::size_t a, std::size_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    const auto key = std::minmax(a, b);
    if (const auto hit = joined_.find(key); hit != joined_.end()) return hit->second;
    std::vector<Id> all;
    std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(all));
    return joined_[key] = intern(std::move(all));
  }

  std::size_t without(std::size_t a, Id range) {
    std::vector<Id> rest = sets_[a];
    std::erase(rest, range);
    return intern(std::move(rest));
  }

  const std::vector<Id>& operator[](std::size_t a) const { return sets_[a]; }
  std::size_t size() const { return sets_.size(); }

 private:
  std::size_t intern(std::vector<Id> set) {
    const auto [it, fresh] = ids_.try_emplace(set, sets_.size());
    if (fresh) sets_.push_back(std::move(set));
    return it->second;
  }

  std::vector<std::vector<Id>> sets_;
  std::map<std::vector<Id>, std::size_t> ids_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> joined_;
};

void check_loop(const Graph& g, Id loop) {
  const std::size_t n = g.src(loop).size();
  if (n < 3 || g.args(loop).size() < 2 || g.arg(loop, 0) < 0 || n < 3 + 2 * g.slot(loop) || g.op(g.src(loop, 0)) != Op::RANGE ||
      g.arg(loop, 1) <= 0)
    throw std::logic_error("loop_scopes: malformed FOR");
}

// Lists the loops, outer before inner: a FOR has a larger id than the loops inside it.
void list_loops(const Graph& g, Scopes& s) {
  s.loops.push_back({});
  for (auto it = s.nodes.rbegin(); it != s.nodes.rend(); ++it) {
    if (g.op(*it) != Op::FOR) continue;
    check_loop(g, *it);
    const Id range = g.range_of(*it);
    if (s.loop_of[range] >= 0) throw std::logic_error("loop_scopes: two loops share a RANGE");
    s.loop_of[range] = s.loop_of[*it] = static_cast<std::int32_t>(s.loops.size());
    const ForParts f = for_parts(g, *it);
    const bool certain = !f.has_condition && g.is_const(f.begin) && g.is_const(f.end) && g.value(f.begin) < g.value(f.end);
    s.loops.push_back({*it, range, -1, 0, certain});
  }
}

// By loop: the loop that has it as an effect; 0: the SINK; -1: none (a loop without effects).
std::vector<std::int32_t> list_effects(const Graph& g, Id sink, const Scopes& s) {
  std::vector<std::int32_t> listed(s.loops.size(), -1);
  const auto list = [&](std::span<const Id> effects, std::int32_t scope) {
    for (const Id e : effects)
      if (g.op(e) == Op::FOR) nth(listed, s.loop_of[e]) = scope;
  };
  list(g.src(sink), root_scope);
  for (std::size_t i = 1; i < s.loops.size(); ++i) list(for_parts(g, s.loops[i].loop).effects, static_cast<std::int32_t>(i));
  return listed;
}

// The RANGE of the single loop around all effects of a kernel; no_id: there is none.
Id outermost_range(const Graph& g, Id sink) {
  const Id only = g.src(sink).size() == 1 ? g.src(sink).front() : no_id;
  return only != no_id && g.op(only) == Op::FOR ? g.range_of(only) : no_id;
}

// The slot that an access without a state names; -1: another node.
std::int64_t plain_slot(const Graph& g, Id id) {
  const bool access = g.op(id) == Op::LOAD || g.op(id) == Op::STORE;
  return access && g.op(g.state(id)) == Op::BUFFER ? g.arg(g.state(id), 0) : -1;
}

std::set<std::int64_t> stored_slots(const Graph& g, const Scopes& s) {
  std::set<std::int64_t> stored;
  for (const Id id : s.nodes)
    if (g.op(id) == Op::STORE) stored.insert(plain_slot(g, id));
  return stored;
}

// By node: the set of RANGEs that it depends on. A loop that is an effect also depends on the loop that has it as an effect. A
// LOAD of a buffer that the kernel stores must stay in the outermost loop, even if its index does not depend on it. In kernels
// with states, the states imply this.
std::vector<std::size_t> free_ranges(const Graph& g, const Scopes& s, const std::vector<std::int32_t>& listed,
                                     RangeSets& sets) {
  std::vector<std::size_t> ranges(s.of.size(), 0);
  const Id outermost = outermost_range(g, s.nodes.back());
  const std::set<std::int64_t> stored = stored_slots(g, s);
  const auto reads_stored = [&](Id id) {
    return g.op(id) == Op::LOAD && plain_slot(g, id) >= 0 && stored.contains(plain_slot(g, id));
  };
  for (const Id id : s.nodes) {
    const Op op = g.op(id);
    if (op == Op::RANGE) {
      ranges[id] = sets.single(id);
    } else if (op == Op::CARRY) {
      ranges[id] = ranges[g.range_of(id)];
    } else if (op == Op::FOR) {
      std::size_t all = 0;
      for (const Id src : g.src(id).subspan(1)) all = sets.join(all, ranges[src]);
      const std::int32_t by = nth(listed, s.loop_of[id]);
      if (by > root_scope) all = sets.join(all, sets.single(nth(s.loops, by).range));
      ranges[id] = sets.without(all, g.range_of(id));
    } else {
      std::size_t all = 0;
      for (const Id src : g.src(id)) all = sets.join(all, ranges[src]);
      if (outermost != no_id && reads_stored(id)) all = sets.join(all, sets.single(outermost));
      ranges[id] = all;
    }
  }
  return ranges;
}

// The deepest loop of a set. Requires the depths of these loops, which are known once the loops around are in the tree.
std::int32_t deepest(const Scopes& s, const std::vector<Id>& ranges) {
  std::int32_t best = root_scope;
  for (const Id range : ranges) {
    const std::int32_t loop = s.loop_of[range];
    if (loop < 0) throw std::logic_error("loop_scopes: RANGE without a FOR");
    if (nth(s.loops, loop).depth > nth(s.loops, best).depth) best = loop;
  }
  return best;
}

void build_tree(Scopes& s, const std::vector<std::int32_t>& listed, const std::vector<std::size_t>& ranges,
                const RangeSets& sets) {
  for (std::size_t i = 1; i < s.loops.size(); ++i) {
    LoopScope& loop = s.loops[i];
    loop.parent = listed[i] >= 0 ? listed[i] : deepest(s, sets[ranges[loop.loop]]);
    loop.depth = nth(s.loops, loop.parent).depth + 1;
  }
}

void mark_memory(const Graph& g, Scopes& s) {
  for (const Id id : s.nodes) {
    const Op op = g.op(id);
    bool reads = op == Op::LOAD;
    if (op != Op::FOR && op != Op::GET && op != Op::CARRY && op != Op::SINK)
      for (const Id src : g.src(id)) reads = reads || s.reads_memory[src];
    s.reads_memory[id] = reads;
  }
}

}  // namespace

ForParts for_parts(const Graph& g, Id loop) {
  const std::span<const Id> src = g.src(loop);
  const auto n = g.slot(loop);
  return {src[0],
          src[1],
          src[2],
          src.subspan(3, n),
          src.subspan(3 + n, n),
          src.subspan(3 + 2 * n),
          g.arg(loop, 1),
          g.args(loop).size() > 2 && g.arg(loop, 2) == 1};
}

bool runs_at_most_once(const Graph& g, const ForParts& f) {
  std::int64_t second = 0;
  if (!g.is_const(f.begin) || g.op(f.end) != Op::MIN || __builtin_add_overflow(g.value(f.begin), f.step, &second)) return false;
  return std::ranges::any_of(g.src(f.end), [&](Id bound) { return g.is_const(bound) && g.value(bound) <= second; });
}

bool Scopes::encloses(std::int32_t outer, std::int32_t inner) const {
  const std::int32_t depth = nth(loops, outer).depth;
  while (nth(loops, inner).depth > depth) inner = nth(loops, inner).parent;
  return inner == outer;
}

std::int32_t Scopes::place(Id node, std::int32_t use) const {
  const std::int32_t own = of[node];
  if (!reads_memory[node]) return own;
  while (use != own && nth(loops, use).certain) use = nth(loops, use).parent;
  return use;
}

Scopes find_scopes(const Graph& g, Id sink) {
  Scopes s;
  s.nodes = g.reachable(sink);
  const std::size_t bound = std::size_t{sink} + 1;
  s.of.assign(bound, -1);
  s.loop_of.assign(bound, -1);
  s.reads_memory.assign(bound, false);
  list_loops(g, s);
  RangeSets sets;
  const std::vector<std::int32_t> listed = list_effects(g, sink, s);
  const std::vector<std::size_t> ranges = free_ranges(g, s, listed, sets);
  build_tree(s, listed, ranges, sets);
  std::vector<std::int32_t> scope_of_set(sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) scope_of_set[i] = deepest(s, sets[i]);
  for (const Id id : s.nodes) s.of[id] = g.op(id) == Op::FOR ? nth(s.loops, s.loop_of[id]).parent : scope_of_set[ranges[id]];
  mark_memory(g, s);
  return s;
}

}  // namespace kiln::compiler
