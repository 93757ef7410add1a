#include "compiler/lower/range_parts.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/nth.h"
#include "compiler/lower/index_vector.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

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
    if (own == d->end() || (own->coefficient != 1 && own->coefficient != -1)) return std::nullopt;
    const std::int64_t c = own->coefficient;
    std::erase_if(*d, is_range);
    // c == 1: range >= 1 - d or range >= -d holds behind the boundary. c == -1: range < d or range <= d holds before it.
    const std::int64_t more = c == 1 ? (op == Op::LT ? 1 : 0) : (op == Op::LE ? 1 : 0);
    const auto one = symbolic::sum_of(g_, g_.index(more));
    const auto at = symbolic::plus(g_, *one, *d, -c);
    const auto rest = at ? symbolic::plus(g_, *extent, *at, -1) : std::nullopt;
    if (!rest || varies(*at) || symbolic::interval_of(bounds_, *at).min < 0 || symbolic::interval_of(bounds_, *rest).min < 0)
      return std::nullopt;
    const Id first = index_from(g_, *at), left = index_from(g_, *rest);
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

// Drops gates that always hold, and LOADs whose gates never hold.
Id without_known_gates(Graph& g, Id store) {
  return rewrite(g, store, [&](Id id, std::span<const Id> x) -> Id {
    const bool is_load = g.op(id) == Op::LOAD;
    if ((!is_load && g.op(id) != Op::STORE) || x.size() < 4 || !g.is_const(x[3])) return no_id;
    if (g.value(x[3]) == 0) return is_load ? x[2] : no_id;
    return g.with_src(id, std::vector<Id>(x.begin(), x.begin() + (is_load ? 2 : 3)));
  });
}

}  // namespace

bool may_have_parts(const Graph& g, std::span<const Id> stores, std::span<const LoopPlan> plan, std::size_t level) {
  const auto is_special = [](const LoopPlan& l) {
    return l.block || l.rows || l.transposes != no_id || l.shares_loads || l.masked_all;
  };
  if ((!plan[level].lanes && plan[level].step != 1) || std::ranges::any_of(plan, is_special)) return false;
  if (!std::ranges::all_of(stores, [&](Id s) { return g.op(s) == Op::STORE; })) return false;
  return std::ranges::none_of(g.reachable(stores), [&](Id id) { return g.op(id) == Op::FOR; });
}

std::vector<RangePart> range_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, Id range, int fewest,
                                   const Facts& facts) {
  const std::vector<Id> at = Boundaries(g, range, fewest, facts).of(stores);
  if (at.empty()) return {};
  const Id boundary = at[at.size() / 2];  // so that few cuts are inside of each other
  const Id rest = simplify(g, sub_index(g, g.end(range), boundary), facts);
  const Id low = loops.range(g, boundary, RangeKind::loop), high = loops.range(g, rest, RangeKind::loop);
  std::vector<RangePart> parts = {{{}, low, g.index(0)}, {{}, high, boundary}};
  Simplifier simplified(g, facts);
  for (RangePart& p : parts) {
    const Id iteration = add_index(g, p.range, p.first);
    for (const Id store : stores) {
      const Id here = substitute(g, store, {{range, iteration}});
      p.stores.push_back(without_known_gates(g, simplified(here)));
    }
  }
  return parts;
}

}  // namespace kiln::compiler
