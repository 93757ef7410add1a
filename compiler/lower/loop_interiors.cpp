#include "compiler/lower/loop_interiors.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/scopes.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_copies.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_inner_nodes = 400;  // of a body, which is copied twice
constexpr std::size_t most_scalar_nodes = 64;  // the same without lanes: such loops are often short
constexpr std::int64_t few_iterations = 16;    // of a loop without lanes that stays whole
constexpr int most_loops = 16;                 // in one kernel

// The lanes of an index: the sum `base` plus a number between least and most.
struct Lanes {
  Poly base;
  std::int64_t least = 0, most = 0;
};

class LoopInterior {
 public:
  LoopInterior(Graph& g, Id loop, LoopLanes lanes)
      : g_(g),
        wanted_(lanes),
        parts_(loop_parts(g, loop)),
        has_effects_(g.src(loop).size() != 3 + 2 * parts_.init.size()),
        nodes_(g.reachable(parts_.yield)) {
    varying_.insert(parts_.range);
    for (const Id id : nodes_)
      if (std::ranges::any_of(g.src(id), [&](Id s) { return varying_.contains(s); })) varying_.insert(id);
  }

  // What each node that acts at a border is in the interior. Empty: there is no border.
  std::unordered_map<Id, Id> find() {
    if (parts_.conditional || parts_.init.empty() || has_effects_ || varying_.size() > most_inner_nodes) return {};
    if (std::ranges::any_of(varying_, [&](Id id) { return g_.op(id) == Op::FOR; }) || !is_wanted()) return {};
    for (const Id id : nodes_)
      if (varying_.contains(id)) look(id);
    return inside_;
  }

  // Lower bounds of the interior's begin, upper bounds of its end.
  const std::vector<Id>& lows() const { return lows_; }
  const std::vector<Id>& highs() const { return highs_; }

 private:
  bool is_wanted() const {
    const auto is_value = [&](Id id) { return g_.lanes(id) > 1 && g_.dtype(id) != DType::index; };
    if (wanted_ == LoopLanes::some) return std::ranges::any_of(varying_, is_value);
    const bool is_short = g_.is_const(parts_.begin) && g_.is_const(parts_.end) &&
                          g_.value(parts_.end) - g_.value(parts_.begin) <= few_iterations * parts_.step;
    return !is_short && varying_.size() <= most_scalar_nodes &&
           std::ranges::none_of(varying_, [&](Id id) { return g_.lanes(id) > 1 || g_.dtype(id) == DType::none; });
  }

  void look(Id id) {
    if (g_.op(id) == Op::WHERE && (g_.op(g_.src(id, 1)) == Op::LOAD || g_.op(g_.src(id, 2)) == Op::LOAD))
      look_at_gate(g_.src(id, 0));
    if (g_.op(id) != Op::LOAD) return;
    if (g_.src(id).size() == 4) look_at_gate(g_.src(id, 3));
    const Id index = g_.src(id, 1);
    std::vector<Id> open{index}, parts;
    while (!open.empty()) {
      const Id part = open.back();
      open.pop_back();
      if (g_.dtype(part) != DType::index || !varying_.contains(part) || !seen_.insert(part).second) continue;
      parts.push_back(part);
      open.insert(open.end(), g_.src(part).begin(), g_.src(part).end());
    }
    std::ranges::sort(parts);  // a clamp after the clamp inside it
    for (const Id part : parts) look_at_index(part);
    if (g_.src(id).size() == 4 && inside_.contains(index)) look_at_extent(index, g_.src(id, 3));
  }

  // MAX(MIN(i, n - 1), 0) is i in the interior, which has an iteration only if 0 < n.
  void look_at_extent(Id index, Id gate) {
    if (g_.op(gate) != Op::LT || g_.op(index) != Op::MAX || !g_.is_index_const(g_.src(gate, 0), 0)) return;
    const auto [a, b] = g_.operands<2>(index);
    const Id inner = g_.is_index_const(a, 0) ? b : a;
    if (g_.op(inner) != Op::MIN || !inside_.contains(inner) || !g_.is_index_const(inner == a ? b : a, 0)) return;
    const auto [x, y] = g_.operands<2>(inner);
    const auto last = symbolic::sum_of(g_, varying_.contains(x) ? y : x), extent = symbolic::sum_of(g_, g_.src(gate, 1));
    const auto d = last && extent ? symbolic::plus(g_, *extent, *last, -1) : std::nullopt;
    if (d && *d == constant_sum(1)) inside_[gate] = g_.constant(DType::boolean, 1);
  }

  // The node that the interior has in the place of this one: itself, if no other one is known.
  Id inside(Id id) const {
    const auto it = inside_.find(id);
    return it == inside_.end() ? id : it->second;
  }

  void look_at_index(Id id) {
    const Op op = g_.op(id);
    if (op != Op::MIN && op != Op::MAX && op != Op::FLOORMOD) return;
    const auto [a, b] = g_.operands<2>(id);
    if (op == Op::FLOORMOD) {
      if (!varying_.contains(b) && wraps(inside(a), b)) inside_[id] = inside(a);
      return;
    }
    const bool first = varying_.contains(a);
    if (first == varying_.contains(b)) return;
    const Id kept = inside(first ? a : b), limit = first ? b : a;
    if (op == Op::MIN ? holds(kept, limit, 0) : holds(limit, kept, 0)) inside_[id] = kept;
  }

  void look_at_gate(Id gate) {
    std::vector<Id> open{gate};
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      const Op op = g_.op(id);
      if (op == Op::AND) open.insert(open.end(), g_.src(id).begin(), g_.src(id).end());
      if ((op != Op::LT && op != Op::LE) || inside_.contains(id) || !varying_.contains(id)) continue;
      const auto [a, b] = g_.operands<2>(id);
      if (g_.dtype(a) == DType::index && holds(a, b, op == Op::LT ? 1 : 0))
        inside_[id] = g_.constant(DType::boolean, 1, g_.lanes(id));
    }
  }

  std::optional<Lanes> lanes_of(Id id) const {
    std::optional<Poly> base;
    Lanes out;
    if (g_.lanes(id) == 1 || g_.op(id) == Op::RAMP || g_.op(id) == Op::BROADCAST)
      base = symbolic::sum_of(g_, g_.lanes(id) == 1 ? id : g_.operand(id));
    else if (g_.is_const(id))
      base = constant_sum(g_.value(id));
    if (!base) return std::nullopt;
    out.base = *std::move(base);
    if (g_.op(id) == Op::RAMP) {
      const std::int64_t reach = g_.stride(id) * (g_.lanes(id) - 1);
      out.least = std::min<std::int64_t>(reach, 0), out.most = std::max<std::int64_t>(reach, 0);
    }
    return out;
  }

  // b - a >= margin in all lanes of the interior. False: the condition is not one of the range alone.
  bool holds(Id a, Id b, std::int64_t margin) {
    const auto x = lanes_of(a), y = lanes_of(b);
    const auto d = x && y ? symbolic::plus(g_, y->base, x->base, -1) : std::nullopt;
    const auto p = d ? symbolic::plus(g_, *d, constant_sum(y->least - x->most - margin)) : std::nullopt;
    return p && bound(*p);
  }

  bool wraps(Id a, Id n) {
    const auto lows = lows_.size();
    if (!holds(g_.index(0), a, 0)) return false;
    if (holds(a, n, 1)) return true;
    lows_.resize(lows);
    return false;
  }

  // p >= 0 as a bound of the range.
  bool bound(Poly p) {
    const auto is_range = [&](const Monomial& t) { return t.atoms == std::vector<Id>{parts_.range}; };
    const auto own = std::ranges::find_if(p, is_range);
    if (own == p.end() || (own->coefficient != 1 && own->coefficient != -1)) return false;
    const std::int64_t c = own->coefficient;
    std::erase_if(p, is_range);
    const auto varies = [&](const Monomial& t) {
      return std::ranges::any_of(t.atoms, [&](Id a) { return varying_.contains(a); });
    };
    const auto end = symbolic::plus(g_, symbolic::scaled(p, -c).value_or(Poly{}), constant_sum(c == 1 ? 0 : 1));
    if (std::ranges::any_of(p, varies) || !end) return false;
    (c == 1 ? lows_ : highs_).push_back(index_from(g_, *end));
    return true;
  }

  Graph& g_;
  const LoopLanes wanted_;
  const LoopParts parts_;
  const bool has_effects_;
  const std::vector<Id> nodes_;
  std::unordered_set<Id> varying_, seen_;  // seen_: parts of indices
  std::unordered_map<Id, Id> inside_;
  std::vector<Id> lows_, highs_;
};

class Cutter {
 public:
  Cutter(Graph& g, RangeIds& loops, const Facts& facts, LoopLanes lanes)
      : g_(g), loops_(loops), lanes_(lanes), simplified_(g, facts) {}

  // The FORs that take the place of the loop; no_id: none do.
  Id cut(Id loop) {
    LoopInterior interior(g_, loop, lanes_);
    const std::unordered_map<Id, Id> inside = interior.find();
    if (inside.empty()) return no_id;
    const LoopParts l = loop_parts(g_, loop);
    const std::vector<Id> init(l.init.begin(), l.init.end());
    const Id begin = l.begin, end = l.end, step = g_.index(l.step);
    Id low = begin, high = end;
    for (const Id b : interior.lows()) low = index_binary(g_, Op::MAX, low, b);
    for (const Id b : interior.highs()) high = index_binary(g_, Op::MIN, high, b);
    const auto behind = [&](Id from, Id least) {  // the first iteration of `from`, `from` + step .. that is at least `least`
      const Id back = index_binary(g_, Op::FLOORDIV, sub_index(g_, from, index_binary(g_, Op::MAX, from, least)), step);
      return index_binary(g_, Op::MIN, end, sub_index(g_, from, mul_index(g_, back, step)));
    };
    const Id first = interior.lows().empty() ? begin : simplified_(behind(begin, low));
    const auto part = [&](Id from, Id to, const std::vector<Id>& values, const std::unordered_map<Id, Id>& replaced) {
      return part_of_loop(g_, loops_, loop, from, to, values, replaced);
    };
    // A begin from data is at a border only if the data are wrong: clamps that never act cost less than three loops.
    if (first != begin && lanes_ == LoopLanes::none && !g_.is_const(first)) return no_id;
    const Id last = interior.highs().empty() ? end : simplified_(behind(first, high));
    std::vector<Id> now = init;
    if (first != begin) {
      const Id before = part(begin, first, now, {});
      now = results_of(g_, before);
    }
    const Id middle = part(first, last, now, inside);
    if (last == end) return middle;
    const std::vector<Id> behind_middle = results_of(g_, middle);
    return part(last, end, behind_middle, {});
  }

 private:
  Graph& g_;
  RangeIds& loops_;
  const LoopLanes lanes_;
  Simplifier simplified_;
};

}  // namespace

Id loop_interiors(Graph& g, RangeIds& loops, Id sink, const Facts& facts, LoopLanes lanes) {
  Cutter cutter(g, loops, facts, lanes);
  int cut = 0;
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) != Op::FOR || cut == most_loops) return no_id;
    const Id same = g.with_src(id, std::vector<Id>(x.begin(), x.end()));
    const Id made = cutter.cut(same);
    if (made != no_id) ++cut;
    return made == no_id ? same : made;
  });
}

}  // namespace kiln::compiler
