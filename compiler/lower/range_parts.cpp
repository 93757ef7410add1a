#include "compiler/lower/range_parts.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/index_vector.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_distance = 16;  // between elements of neighbouring iterations, in a condition

class Boundaries {
 public:
  Boundaries(Graph& g, Id range, int fewest, const Facts& facts) : g_(g), bounds_(g, facts), range_(range), fewest_(fewest) {}

  // The boundaries at which conditions of WHEREs change, in the order of nodes.
  std::vector<Id> of(std::span<const Id> stores) {
    std::vector<Id> out;
    for (const Id id : g_.reachable(stores)) {
      if (g_.op(id) != Op::WHERE || g_.dtype(id) == DType::index || g_.lanes(id) != 1) continue;
      const auto [condition, yes, no] = g_.operands<3>(id);
      if (g_.is_const(yes) || g_.is_const(no)) continue;  // padding, which interior.h cuts off
      if (const auto b = boundary(condition); b && std::ranges::find(out, *b) == out.end()) out.push_back(*b);
    }
    return out;
  }

 private:
  // The first iteration with another value of the comparison; nullopt: not known, or at an end of the range.
  std::optional<Id> boundary(Id condition) {
    const Op op = g_.op(condition);
    if ((op != Op::LT && op != Op::LE) || g_.dtype(g_.src(condition, 0)) != DType::index) return std::nullopt;
    const auto [a, b] = g_.operands<2>(condition);
    const auto below = symbolic::sum_of(g_, a), above = symbolic::sum_of(g_, b), extent = symbolic::sum_of(g_, g_.end(range_));
    auto d = below && above ? symbolic::plus(g_, *above, *below, -1) : std::nullopt;  // the condition is d > 0 or d >= 0
    if (!d || !extent) return std::nullopt;
    const auto is_range = [&](const Monomial& t) { return t.atoms == std::vector<Id>{range_}; };
    const auto own = std::ranges::find_if(*d, is_range);
    if (own == d->end() || own->coefficient == 0 || std::abs(own->coefficient) > most_distance) return std::nullopt;
    const std::int64_t c = own->coefficient, step = std::abs(c);
    std::erase_if(*d, is_range);
    // c > 0: step * range >= 1 - d or step * range >= -d holds behind the boundary. c < 0: step * range < d or step * range <=
    // d holds before it. The boundary is n / step, rounded down.
    const std::int64_t more = c > 0 ? (op == Op::LT ? 1 : 0) : (op == Op::LE ? 1 : 0);
    const auto one = symbolic::sum_of(g_, g_.index(more + step - 1));
    const auto n = symbolic::plus(g_, *one, *d, c > 0 ? -1 : 1);
    const auto most = n ? symbolic::plus(g_, *symbolic::sum_of(g_, g_.index(step - 1)), *extent, step) : std::nullopt;
    const auto rest = most ? symbolic::plus(g_, *most, *n, -1) : std::nullopt;
    if (!rest || varies(*n) || symbolic::interval_of(bounds_, *n).min < 0 || symbolic::interval_of(bounds_, *rest).min < 0)
      return std::nullopt;
    const Id whole = index_from(g_, *n);
    const Id first = index_floordiv(g_, whole, g_.index(step)), left = sub_index(g_, g_.end(range_), first);
    if (is_short(first) || is_short(left)) return std::nullopt;
    return first;
  }

  bool varies(const Poly& p) const {
    return std::ranges::any_of(p, [&](const Monomial& t) {
      const std::vector<Id> nodes = g_.reachable(t.atoms);
      return std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::RANGE || g_.op(id) == Op::LOAD; });
    });
  }

  bool is_short(Id extent) const { return g_.is_const(extent) && g_.value(extent) < fewest_; }

  Graph& g_;
  Bounds bounds_;
  Id range_;
  int fewest_;
};

}  // namespace

Id without_known_gates(Graph& g, Id store) {
  return rewrite(g, store, [&](Id id, std::span<const Id> x) -> Id {
    const bool is_load = g.op(id) == Op::LOAD;
    if ((!is_load && g.op(id) != Op::STORE) || x.size() < 4 || !g.is_const(x[3])) return no_id;
    if (g.value(x[3]) == 0) return is_load ? x[2] : no_id;
    return g.with_src(id, std::vector<Id>(x.begin(), x.begin() + (is_load ? 2 : 3)));
  });
}

bool may_have_parts(const Graph& g, std::span<const Id> stores, std::span<const LoopPlan> plan, std::size_t level) {
  const auto is_special = [](const LoopPlan& l) {
    return l.block || l.rows || l.chain || l.transposes != no_id || l.shares_loads || l.masked_all;
  };
  if ((!plan[level].lanes && plan[level].step != 1) || std::ranges::any_of(plan, is_special)) return false;
  if (!std::ranges::all_of(stores, [&](Id s) { return g.op(s) == Op::STORE; })) return false;
  return std::ranges::none_of(g.reachable(stores), [&](Id id) { return g.op(id) == Op::FOR; });
}

namespace {

// The parts before and behind a boundary, still without stores.
std::vector<RangePart> cut_at(Graph& g, RangeIds& loops, Id boundary, const LoopPlan& plan, const Facts& facts) {
  const Id rest = simplify(g, sub_index(g, g.end(plan.range), boundary), facts);
  const Id low = loops.range(g, boundary, RangeKind::loop), high = loops.range(g, rest, RangeKind::loop);
  std::vector<RangePart> parts = {{{}, low, g.index(0), plan}, {{}, high, boundary, plan}};
  for (RangePart& p : parts) p.plan.range = p.range;
  return parts;
}

// min(n - size * range, size): the elements of a block of a reduction over n elements.
bool is_block_length(const Graph& g, Id id, Id range) {
  if (g.op(id) != Op::MIN || g.dtype(id) != DType::index || !g.is_const(g.src(id, 1))) return false;
  const auto [left, size] = g.operands<2>(id);
  if (g.value(size) < 1 || g.op(left) != Op::SUB || g.op(g.src(left, 1)) != Op::MUL) return false;
  const auto [a, b] = g.operands<2>(g.src(left, 1));
  return ((a == range && b == size) || (a == size && b == range)) &&
         !std::ranges::binary_search(g.reachable(g.src(left, 0)), range);
}

}  // namespace

std::vector<RangePart> range_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                   const Facts& facts) {
  const std::vector<Id> at = Boundaries(g, plan.range, plan.step, facts).of(stores);
  if (at.empty()) return {};
  const Id boundary = at[at.size() / 2];  // so that few cuts are inside of each other
  std::vector<RangePart> parts = cut_at(g, loops, boundary, plan, facts);
  Simplifier simplified(g, facts);
  for (RangePart& p : parts) {
    const Id iteration = add_index(g, p.range, p.first);
    for (const Id store : stores) {
      const Id here = substitute(g, store, {{plan.range, iteration}});
      p.stores.push_back(without_known_gates(g, simplified(here)));
    }
  }
  return parts;
}

bool bounds_unequal_loops(const Graph& g, std::span<const Id> stores, Id range) {
  std::vector<Id> todo;
  for (const Id id : g.reachable(stores))
    if (g.op(id) == Op::FOR) {
      const LoopParts l = loop_parts(g, id);
      todo.insert(todo.end(), {l.begin, l.end});
    }
  std::unordered_set<Id> seen;
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    if (id == range) return true;
    if (!seen.insert(id).second || is_block_length(g, id, range)) continue;
    todo.insert(todo.end(), g.src(id).begin(), g.src(id).end());
  }
  return false;
}

std::vector<RangePart> whole_blocks(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                    const Facts& facts) {
  if (!bounds_loops(g, stores, plan.range) || bounds_unequal_loops(g, stores, plan.range)) return {};
  const std::vector<Id> nodes = g.reachable(stores);
  const auto length = std::ranges::find_if(nodes, [&](Id id) { return is_block_length(g, id, plan.range); });
  const auto [left, size] = g.operands<2>(*length);
  const Id whole = simplify(g, index_floordiv(g, g.src(left, 0), size), facts);
  std::vector<RangePart> parts = cut_at(g, loops, whole, plan, facts);
  Simplifier simplified(g, facts);
  std::unordered_map<Id, Id> equal;
  for (const Id id : nodes)
    if (is_block_length(g, id, plan.range)) equal.emplace(id, g.src(id, 1));
  const auto in_whole = [&](Id id) { return substitute(g, substitute(g, id, equal), {{plan.range, parts[0].range}}); };
  for (const Id store : stores) {
    parts[0].stores.push_back(simplified(in_whole(store)));
    const Id iteration = add_index(g, parts[1].range, whole);
    parts[1].stores.push_back(substitute(g, store, {{plan.range, iteration}}));
  }
  if (plan.streams != no_id) parts[0].plan.streams = in_whole(plan.streams);
  parts[1].plan = {.range = parts[1].range};
  return parts;
}

}  // namespace kiln::compiler
