#include "compiler/lower/expand.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/verify_nodes.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

struct Traits {
  bool affected = false;  // depends on a replaced range, or on the RANGE of a loop that is copied
  bool wide = false;      // becomes a vector
  bool varies = false;    // differs between copies

  bool join(const Traits& o) {
    const Traits before = *this;
    affected = affected || o.affected;
    wide = wide || o.wide;
    varies = varies || o.varies;
    return affected != before.affected || wide != before.wide || varies != before.varies;
  }
};

std::size_t carried(const Graph& g, Id loop) { return g.slot(loop); }

// Traits of all nodes below the roots. The traits of a loop's carried values depend on its body, so the analysis repeats until
// nothing changes: at most once for each level of loops and each carried value.
class Analysis {
 public:
  Analysis(const Graph& g, std::span<const Id> roots, const std::unordered_map<Id, Traits>& seeds, Arrays arrays)
      : g_(g), arrays_(arrays), nodes(g.reachable(roots)) {
    for (const auto& [range, t] : seeds) {
      of[range] = t;
      has_lanes_ = has_lanes_ || t.wide;
    }
    for (bool again = true; again;) {
      again = false;
      for (const Id id : nodes) again = visit(id) || again;
    }
  }

 private:
  const Graph& g_;
  Arrays arrays_;
  bool has_lanes_ = false;

 public:
  std::vector<Id> nodes;
  std::unordered_map<Id, Traits> of;
  std::unordered_map<Id, std::vector<Traits>> carries;  // by RANGE of the loop

 private:
  // The traits that a source adds to its users. All lanes share one state of memory. Exception: the state of an array that
  // exists once for each lane.
  Traits brings(Id source) {
    Traits t = of[source];
    if (g_.dtype(source) == DType::none && g_.op(source) != Op::FOR) {
      const Id memory = memory_of(g_, source);
      t.wide = has_lanes_ && memory != no_id && g_.op(memory) == Op::LOCAL && of[memory].wide;
    }
    return t;
  }

  bool visit(Id id) {
    if (g_.op(id) == Op::FOR) return visit_loop(id);
    Traits t;
    // Each lane has its own array and makes its own atomic operation.
    if (has_lanes_ && (g_.op(id) == Op::LOCAL || g_.op(id) == Op::ATOMIC))
      t.affected = t.wide = arrays_ == Arrays::own || is_affected(id);
    if (g_.op(id) == Op::CARRY) {
      const auto [range, init] = g_.operands<2>(id);
      t = of[range];
      t.wide = t.varies = false;
      t.join(brings(init));
      if (const auto it = carries.find(range); it != carries.end()) t.join(it->second[g_.slot(id)]);
    } else if (g_.op(id) == Op::GET) {
      const Id loop = g_.scope(id);
      t = carries[g_.range_of(loop)][g_.slot(id)];
      t.affected = of[loop].affected;
    } else if (g_.op(id) != Op::RANGE) {
      for (const Id s : g_.src(id)) t.join(brings(s));
    }
    of[id].join(t);  // visit_loop() reports changes
    return false;
  }

  bool is_affected(Id id) {
    return std::ranges::any_of(g_.src(id), [&](Id s) { return of[s].affected; });
  }

  bool visit_loop(Id id) {
    const std::size_t n = carried(g_, id);
    const Id range = g_.range_of(id);
    std::vector<Traits>& c = carries[range];
    c.resize(n);
    Traits all;
    bool grown = false;
    for (std::size_t i = 1; i < g_.src(id).size(); ++i) {
      const Traits t = brings(g_.src(id, i));
      all.join(t);
      if (i >= 3 && i < 3 + 2 * n) grown = c[(i - 3) % n].join(t) || grown;
    }
    of[id].join(all);
    if (all.affected) {
      Traits& r = of[range];
      grown = grown || !r.affected;
      r.affected = true;
    }
    return grown;
  }
};

bool is_truth(const Graph& g, Id id, bool value) {
  return g.is_const(id) && g.dtype(id) == DType::boolean && (g.value(id) != 0) == value;
}

// The value of a node over the sources `s`, if a comparison of constants decides it; else no_id. The indices of copies are
// constants. A LOAD whose gate is true loses its gate.
Id decided(Graph& g, Id id, std::vector<Id>& s) {
  const Op op = g.op(id);
  if (is_comparison(op) && g.dtype(s[0]) == DType::index && g.is_const(s[0]) && g.is_const(s[1])) {
    const std::int64_t a = g.value(s[0]), b = g.value(s[1]);
    return g.constant(DType::boolean, op == Op::LT ? a < b : op == Op::LE ? a <= b : op == Op::EQ ? a == b : a != b);
  }
  if (op == Op::AND || op == Op::OR)
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_truth(g, s[i], op == Op::AND)) return s[1 - i];
      if (is_truth(g, s[i], op == Op::OR)) return s[i];
    }
  if (op == Op::WHERE && is_truth(g, s[0], true)) return s[1];
  if (op == Op::WHERE && is_truth(g, s[0], false)) return s[2];
  if (op == Op::LOAD && s.size() > 3 && is_truth(g, s[3], false)) return s[2];
  if (op == Op::LOAD && s.size() > 3 && is_truth(g, s[3], true)) s.resize(2);
  return no_id;
}

class Expansion {
 public:
  Expansion(Graph& g, RangeIds& loops, std::span<const Id> roots, std::span<const Copy> copies, Arrays arrays)
      : g_(g), loops_(loops), copies_(copies), arrays_(arrays), traits_(g, roots, seeds(), arrays) {}

  void run() {
    for (const Id id : traits_.nodes) {
      const Traits t = traits_.of.at(id);
      if (!t.affected) continue;
      const LocScope of_node(g_, g_.loc(id));
      std::vector<Id> made(t.varies ? copies_.size() : 1);
      for (std::size_t c = 0; c < made.size(); ++c) made[c] = node(id, c, t);
      done_.emplace(id, std::move(made));
    }
  }

  Id at(Id id, std::size_t copy) const {
    const auto it = done_.find(id);
    if (it == done_.end()) return id;
    return it->second[it->second.size() == 1 ? 0 : copy];
  }

 private:
  std::unordered_map<Id, Traits> seeds() {
    std::unordered_map<Id, Traits> out;
    for (const auto& [range, value] : copies_[0].values) {
      Traits t{true, g_.lanes(value) > 1, false};
      for (const Copy& c : copies_) t.varies = t.varies || c.values.at(range) != value;
      if (t.wide) lanes_ = g_.lanes(value);
      out[range] = t;
    }
    return out;
  }

  Id node(Id id, std::size_t copy, const Traits& t) {
    if (const auto it = copies_[copy].values.find(id); it != copies_[copy].values.end()) return it->second;
    switch (g_.op(id)) {
      case Op::RANGE: return range(id, copy);
      case Op::CARRY: return carry(id, copy);
      case Op::FOR: return loop(id, copy);
      case Op::GET: return get(id, copy);
      default: break;
    }
    std::vector<Id> s;
    for (const Id x : g_.src(id)) s.push_back(at(x, copy));
    if (const Id known = decided(g_, id, s); known != no_id) return known;
    if (!t.wide)
      return g_.dtype(id) == DType::index && is_binary(g_.op(id)) && g_.lanes(id) == 1 ? index_binary(g_, g_.op(id), s[0], s[1])
                                                                                       : g_.with_src(id, s);
    return wide(id, std::move(s), copies_[copy].mask);
  }

  Id range(Id id, std::size_t copy) { return loops_.range(g_, at(g_.end(id), copy), g_.range_kind(id)); }

  bool loop_varies(Id range) const {
    return std::ranges::any_of(traits_.carries.at(range), [](const Traits& t) { return t.varies; });
  }

  Id carry(Id id, std::size_t copy) {
    const auto [range, old_init] = g_.operands<2>(id);
    Id init = at(old_init, copy);
    if (traits_.of.at(id).wide && !is_state(g_, init)) init = widen_lanes(g_, init, lanes_);
    const std::size_t slot = g_.slot(id) + (loop_varies(range) ? copy * traits_.carries.at(range).size() : 0);
    return g_.make(Op::CARRY, g_.dtype(id), {at(range, 0), init}, {slot}, {}, g_.lanes(init));
  }

  // All copies share one loop: carried value i of copy c has number c * n + i.
  Id loop(Id id, std::size_t) {
    const std::size_t n = carried(g_, id);
    const LoopParts l = loop_parts(g_, id);
    const Id old_range = l.range;
    const std::size_t copies = loop_varies(old_range) ? copies_.size() : 1;
    if (g_.src(id).size() != 3 + 2 * n) throw std::logic_error("expand: inner loop with effects");
    std::vector<Id> s = {at(old_range, 0), at(l.begin, 0), at(l.end, 0)};
    for (const Id bound : {l.begin, l.end})
      if (traits_.of.at(bound).varies || traits_.of.at(bound).wide)
        violated(g_, id, "loop-bounds", "bounds that are equal for all iterations that become one");
    for (std::size_t part = 0; part < 2; ++part)
      for (std::size_t c = 0; c < copies; ++c)
        for (std::size_t i = 0; i < n; ++i) {
          const Id v = at(g_.src(id, 3 + part * n + i), c);
          s.push_back(traits_.carries.at(old_range)[i].wide && !is_state(g_, v) ? widen_lanes(g_, v, lanes_) : v);
        }
    std::vector<std::int64_t> args(g_.args(id).begin(), g_.args(id).end());
    if (args.size() > 2 && copies > 1) throw std::logic_error("expand: copies of a loop that ends by a condition");
    args[0] = narrow<std::int64_t>(copies * n);
    return g_.make(Op::FOR, DType::none, s, args);
  }

  Id get(Id id, std::size_t copy) {
    const Id loop = g_.scope(id);
    const std::size_t slot = g_.slot(id) + (loop_varies(g_.range_of(loop)) ? copy * carried(g_, loop) : 0);
    const Id made = at(loop, copy);
    const int lanes = traits_.of.at(id).wide && g_.dtype(id) != DType::none ? lanes_ : g_.lanes(id);
    return g_.make(Op::GET, g_.dtype(id), {made}, {slot}, {}, lanes);
  }

  Id wide(Id id, std::vector<Id> s, Id mask) {
    const Op op = g_.op(id);
    if (g_.lanes(id) != 1 || op == Op::LANE || op == Op::SHUFFLE || op == Op::BROADCAST || op == Op::RAMP)
      throw std::logic_error("expand: a vector cannot become wider");
    if (op == Op::LOAD) return load(id, std::move(s), mask);
    if (op == Op::STORE) return store(id, std::move(s), mask);
    if (op == Op::ATOMIC) return atomic(id, std::move(s), mask);
    if (op == Op::LOCAL) return g_.make(op, g_.dtype(id), s, g_.args(id), {}, lanes_);
    if (op == Op::ENTRY) return g_.make(op, DType::none, s);
    if (op == Op::CAST && g_.dtype(s[0]) == DType::index)
      if (const Id narrow = cast_of_ramp(id, s[0]); narrow != no_id) return narrow;
    if (g_.dtype(id) == DType::index && is_binary(op)) return index_binary(g_, op, s[0], s[1]);
    for (Id& x : s) x = widen_lanes(g_, x, lanes_);
    return g_.make(op, g_.dtype(id), s, g_.args(id), g_.name(id), lanes_);
  }

  // Integers wrap, so a ramp of indices may be cast before the lanes are added.
  Id cast_of_ramp(Id id, Id x) {
    if (g_.op(x) != Op::RAMP || !is_int(g_.dtype(id)) || bits(g_.dtype(id)) < 32) return no_id;
    const Id base = g_.make(Op::CAST, g_.dtype(id), {g_.operand(x)});
    return ramp(g_, base, g_.stride(x), lanes_);
  }

  Id masked(Id gate, Id mask) {
    if (gate != no_id) gate = widen_lanes(g_, gate, lanes_);
    if (mask == no_id || gate == no_id) return mask == no_id ? gate : mask;
    return g_.make(Op::AND, DType::boolean, {gate, mask}, {}, {}, lanes_);
  }

  Id reversed(Id v) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = lanes_; i-- > 0;) order.push_back(i);
    return g_.make(Op::SHUFFLE, g_.dtype(v), std::vector<Id>{v}, order, {}, lanes_);
  }

  // The index of an access. If each lane has a copy of the array, the copies of one element are adjacent.
  Id position(Id state, Id index) {
    const Id memory = memory_of(g_, state);
    if (memory == no_id || g_.op(memory) != Op::LOCAL || g_.lanes(memory) == 1) return widen_lanes(g_, index, lanes_);
    const Id lane = ramp(g_, g_.index(0), 1, lanes_);
    return add_index(g_, mul_index(g_, index, g_.index(lanes_)), lane);
  }

  Id atomic(Id id, std::vector<Id> s, Id mask) {
    s[1] = masked(s[1], mask);
    s.back() = position(s[0], s.back());
    for (std::size_t i = 2; i < s.size(); ++i) s[i] = widen_lanes(g_, s[i], lanes_);
    return g_.make(Op::ATOMIC, DType::none, s, g_.args(id));
  }

  Id load(Id id, std::vector<Id> s, Id mask) {
    const Id gate = masked(s.size() > 3 ? s[3] : no_id, mask);
    const Id otherwise = s.size() > 2 ? s[2] : g_.constant(g_.dtype(id), 0);
    s[1] = position(s[0], s[1]);
    const bool backward = gate == no_id && g_.op(s[1]) == Op::RAMP && g_.stride(s[1]) == -1;
    if (backward) s[1] = ramp(g_, sub_index(g_, g_.operand(s[1]), g_.index(lanes_ - 1)), 1, lanes_);
    if (gate != no_id) {
      s.resize(4, no_id);
      s[2] = widen_lanes(g_, otherwise, lanes_);
      s[3] = gate;
    }
    const Id made = g_.make(Op::LOAD, g_.dtype(id), s, g_.args(id), g_.name(id), lanes_);
    return backward ? reversed(made) : made;
  }

  Id store(Id id, std::vector<Id> s, Id mask) {
    if (g_.lanes(s[1]) == 1 && g_.op(s[0]) == Op::BUFFER && arrays_ == Arrays::own)
      violated(g_, id, "store-lanes", "an index that differs between the iterations that become lanes");
    s[1] = position(s[0], s[1]);
    s[2] = widen_lanes(g_, s[2], lanes_);
    const Id gate = masked(s.size() > 3 ? s[3] : no_id, mask);
    if (gate != no_id) s.resize(4, gate);
    if (gate != no_id) s[3] = gate;
    return g_.make(Op::STORE, DType::none, s, g_.args(id));
  }

  Graph& g_;
  RangeIds& loops_;
  std::span<const Copy> copies_;
  Arrays arrays_;
  int lanes_ = 1;
  Analysis traits_;
  std::unordered_map<Id, std::vector<Id>> done_;
};

}  // namespace

std::vector<std::vector<Id>> expand(Graph& g, RangeIds& loops, std::span<const Id> roots, std::span<const Copy> copies,
                                    Arrays arrays) {
  Expansion e(g, loops, roots, copies, arrays);
  e.run();
  std::vector<std::vector<Id>> out(copies.size());
  for (std::size_t c = 0; c < copies.size(); ++c)
    for (const Id r : roots) out[c].push_back(e.at(r, c));
  return out;
}

bool has_vectors_over(const Graph& g, std::span<const Id> roots, Id range) {
  const Analysis traits(g, roots, {{range, Traits{true, true, false}}}, Arrays::own);
  return std::ranges::any_of(traits.nodes, [&](Id id) { return g.lanes(id) > 1 && traits.of.at(id).wide; });
}

}  // namespace kiln::compiler
