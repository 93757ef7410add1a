#include "compiler/lower/gate_extraction.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/lower/drop_unit_ranges.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/prover.h"

namespace kiln::compiler {
namespace {

// A node without INVALID: its value, and the condition under which the value is valid (no_id: always).
struct Clean {
  Id value = no_id;
  Id gate = no_id;
};

class Extraction {
 public:
  Extraction(Graph& g, Id sink) : g_(g), sink_(sink) {}

  Id run() {
    const std::vector<Id> nodes = g_.reachable(sink_);
    for (const Id id : nodes)
      if (g_.op(id) == Op::STORE) ++stores_[g_.src(id, 0)];
    for (const Id end : g_.src(sink_)) outermost_.insert(g_.store(end));
    for (const Id id : nodes) done_[id] = clean(id);
    return done_.at(sink_).value;
  }

 private:
  Clean clean(Id id) {
    switch (g_.op(id)) {
      case Op::INVALID: return {g_.index(0), g_.constant(DType::boolean, 0)};
      case Op::LOAD: return access(id, 3);
      case Op::STORE: return access(id, 3);
      case Op::WHERE: return where(id);
      default: return plain(id);
    }
  }

  const Clean& source(Id id, std::size_t i) const { return done_.at(g_.src(id, i)); }

  Id both(Id a, Id b) {
    if (a == no_id || a == b) return b;
    if (b == no_id) return a;
    if (is_false(a)) return a;
    return is_false(b) ? b : g_.make(Op::AND, DType::boolean, {a, b});
  }
  bool is_true(Id gate) const { return g_.is_const(gate) && g_.value(gate) != 0; }
  bool is_false(Id gate) const { return gate != no_id && g_.is_const(gate) && g_.value(gate) == 0; }

  std::vector<Id> values(Id id) const {
    std::vector<Id> out;
    for (const Id s : g_.src(id)) out.push_back(done_.at(s).value);
    return out;
  }

  // Only index and bool values can become part of an index, so only they have a gate.
  Clean plain(Id id) {
    Clean out{g_.with_src(id, values(id)), no_id};
    if (is_elementwise(g_.op(id)) && (g_.dtype(id) == DType::index || g_.dtype(id) == DType::boolean))
      for (std::size_t i = 0; i < g_.src(id).size(); ++i) out.gate = both(out.gate, source(id, i).gate);
    return out;
  }

  Clean where(Id id) {
    const Clean c = source(id, 0), a = source(id, 1), b = source(id, 2);
    if (is_false(b.gate)) return {a.value, both(both(c.gate, c.value), a.gate)};
    if (is_false(a.gate)) return {b.value, both(both(c.gate, negated(c.value)), b.gate)};
    if (a.gate == no_id && b.gate == no_id) return has_gate(a.value, c.value, b.value) ? a : plain(id);
    const Id yes = g_.constant(DType::boolean, 1);
    const Id gate =
        g_.make(Op::WHERE, DType::boolean, {c.value, a.gate == no_id ? yes : a.gate, b.gate == no_id ? yes : b.gate});
    return {g_.with_src(id, values(id)), both(c.gate, gate)};
  }
  // Whether `load` gives `other` where the condition is false: its gate contains the condition.
  bool has_gate(Id load, Id condition, Id other) const {
    if (g_.op(load) != Op::LOAD || g_.src(load).size() < 4 || g_.src(load, 2) != other) return false;
    std::vector<Id> parts = {g_.src(load, 3)};
    while (!parts.empty()) {
      const Id part = parts.back();
      parts.pop_back();
      if (part == condition) return true;
      if (g_.op(part) == Op::AND) parts.insert(parts.end(), g_.src(part).begin(), g_.src(part).end());
    }
    return false;
  }
  Id negated(Id c) { return g_.make(Op::NOT, DType::boolean, {c}); }

  // Whether the value is an element that the STORE would not change: a LOAD of the same element. sources: of the STORE.
  bool is_unchanged(Id value, std::span<const Id> sources) const {
    return g_.op(value) == Op::LOAD && g_.src(value).size() < 4 && g_.op(sources[0]) == Op::BUFFER &&
           g_.src(value, 0) == sources[0] && g_.src(value, 1) == sources[1] && stores_.at(sources[0]) == 1;
  }
  // Whether the condition compares positions and extents only.
  bool is_of_positions(Id condition) const {
    return std::ranges::all_of(g_.reachable(condition), [&](Id id) {
      const Op op = g_.op(id);
      return is_elementwise(op) || op == Op::RANGE || op == Op::SYM || op == Op::CONST;
    });
  }
  // The condition under which a STORE of WHERE(c, v, x[i]) to x[i] changes the element, and v; else no condition. Not for a
  // STORE in a FOR: an earlier iteration may have changed the element.
  Clean change(std::span<const Id> sources) {
    const Id value = sources[2];
    if (g_.op(value) != Op::WHERE || !is_of_positions(g_.src(value, 0))) return {value, no_id};
    const auto [c, a, b] = g_.operands<3>(value);
    if (is_unchanged(b, sources)) return {a, c};
    return is_unchanged(a, sources) ? Clean{b, negated(c)} : Clean{value, no_id};
  }

  // LOAD {buffer, index, alt, gate} and STORE {buffer, index, value, gate}.
  Clean access(Id id, std::size_t gate_at) {
    std::vector<Id> s = values(id);
    Id gate = source(id, 1).gate;
    if (outermost_.contains(id)) {
      const Clean changed = change(s);
      s[2] = changed.value;
      gate = both(gate, changed.gate);
    }
    if (gate != no_id) {
      if (s.size() < gate_at) s.push_back(g_.constant(g_.dtype(id), 0));
      if (s.size() == gate_at)
        s.push_back(gate);
      else
        s[gate_at] = both(s[gate_at], gate);
    }
    if (s.size() > gate_at && is_true(s[gate_at])) s.resize(g_.op(id) == Op::LOAD ? gate_at - 1 : gate_at);
    return {g_.with_src(id, s), no_id};
  }

  Graph& g_;
  Id sink_;
  std::unordered_map<Id, Clean> done_;
  std::unordered_map<Id, int> stores_;  // by memory
  std::unordered_set<Id> outermost_;    // STOREs of ENDs
};

// The comparisons of index values that are the same in all iterations.
std::vector<Id> fixed_comparisons(const Graph& g, Id sink) {
  std::vector<Id> out;
  std::unordered_set<Id> varies;
  for (const Id id : g.reachable(sink)) {
    const Op op = g.op(id);
    const auto of_data = [&](Id s) { return varies.contains(s) || g.dtype(s) != DType::index; };
    const bool is_fixed = op == Op::SYM || op == Op::CONST || (!g.src(id).empty() && std::ranges::none_of(g.src(id), of_data));
    if (op == Op::RANGE || !is_fixed) varies.insert(id);
    if ((op == Op::LT || op == Op::LE) && !varies.contains(id)) out.push_back(id);
  }
  return out;
}

// Returns the comparisons that hold whenever every loop of `loops` has an iteration.
std::unordered_set<Id> holding(const Graph& g, std::span<const Id> comparisons, std::span<const Id> loops, const Facts& facts) {
  std::unordered_set<Id> hold;
  Bounds bounds(g, facts);
  symbolic::Prover prover(g, bounds, loops);
  for (const Id id : comparisons) {
    const auto [a, b] = g.operands<2>(id);
    const auto below = symbolic::sum_of(g, a), above = symbolic::sum_of(g, b);
    const auto d = below && above ? symbolic::plus(g, *above, *below, -1) : std::nullopt;
    if (d && (g.op(id) == Op::LT ? prover.gt0(*d) : prover.ge0(*d))) hold.insert(id);
  }
  return hold;
}

// The kernel runs only if its outermost loop has an iteration, so the loop's end is positive: 0 < n holds over i < n - k. The
// ends of inner loops say nothing about nodes that do not depend on their ranges, because these run before the loops.
Id without_entry_conditions(Graph& g, Id sink, const Facts& facts) {
  const std::vector<Id> loops = loops_of(g, sink), outermost(loops.begin(), loops.begin() + (loops.empty() ? 0 : 1));
  const std::unordered_set<Id> hold = holding(g, fixed_comparisons(g, sink), outermost, facts);
  if (hold.empty()) return sink;
  const auto is_true = [&](Id c) { return g.is_const(c) && g.value(c) != 0; };
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (hold.contains(id)) return g.constant(DType::boolean, 1);
    if (g.op(id) == Op::WHERE && is_true(x[0])) return x[1];
    if (g.op(id) != Op::AND || g.dtype(id) != DType::boolean) return no_id;
    return is_true(x[0]) ? x[1] : is_true(x[1]) ? x[0] : no_id;
  });
}

// The gate without these conditions; no_id: nothing is left.
Id without(Graph& g, Id gate, const std::unordered_set<Id>& conditions) {
  Id rest = no_id;
  std::vector<Id> parts = {gate};
  while (!parts.empty()) {
    const Id part = parts.back();
    parts.pop_back();
    if (g.op(part) == Op::AND) {
      const auto [a, b] = g.operands<2>(part);
      parts.insert(parts.end(), {b, a});
    } else if (!conditions.contains(part)) {
      rest = rest == no_id ? part : g.make(Op::AND, DType::boolean, {rest, part});
    }
  }
  return rest;
}

// An iteration of a loop proves that the loop has one. So 0 < n is no condition of the accesses in a loop over j < n.
Id without_loop_conditions(Graph& g, Id sink, const Facts& facts) {
  const std::vector<Id> comparisons = fixed_comparisons(g, sink), nodes = g.reachable(sink);
  if (comparisons.empty()) return sink;
  const auto inside = nodes_by_range(g, nodes);
  std::unordered_map<Id, std::unordered_set<Id>> known;  // by access
  std::vector<Id> ranges = loops_of(g, sink);
  for (const Id id : nodes)
    if (g.op(id) == Op::FOR) ranges.push_back(g.range_of(id));
  for (const Id range : ranges) {
    const Id of_range[] = {range};
    const auto body = inside.find(range);
    const std::unordered_set<Id> hold = holding(g, comparisons, of_range, facts);
    if (hold.empty() || body == inside.end()) continue;
    for (const Id id : body->second)
      if (g.op(id) == Op::LOAD || g.op(id) == Op::STORE) known[id].insert(hold.begin(), hold.end());
  }
  if (known.empty()) return sink;
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const auto it = known.find(id);
    if (it == known.end() || x.size() < 4) return no_id;
    std::vector<Id> s(x.begin(), x.end());
    s[3] = without(g, x[3], it->second);
    if (s[3] == x[3]) return no_id;
    if (s[3] == no_id) s.resize(g.op(id) == Op::LOAD ? 2 : 3);
    return g.with_src(id, s);
  });
}

}  // namespace

Id gate_extraction(Graph& g, Id sink, const Facts& facts) {
  return without_loop_conditions(g, Extraction(g, without_entry_conditions(g, sink, facts)).run(), facts);
}

}  // namespace kiln::compiler
