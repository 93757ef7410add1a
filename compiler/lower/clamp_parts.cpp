#include "compiler/lower/clamp_parts.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_clamps = 16;  // different ones

// The iterations first <= range < end in which no clamp acts: the first one is the greatest of `first`, the end the least of
// `end`.
class Clamps {
 public:
  Clamps(Graph& g, std::span<const Id> stores, Id range, std::span<const LoopPlan> inner)
      : g_(g), range_(range), over_range_(depends_on_range(g, g.reachable(stores), range)), varying_(over_range_) {
    for (const LoopPlan& p : inner) varying_.merge(depends_on_range(g, g.reachable(stores), p.range));
  }

  Id operator()(Id id, std::span<const Id> x) {
    if ((g_.op(id) != Op::MIN && g_.op(id) != Op::MAX) || g_.dtype(id) != DType::index || !over_range_.contains(id))
      return no_id;
    for (std::size_t i = 0; i < 2; ++i)
      if (over_range_.contains(g_.src(id, i)) && !over_range_.contains(g_.src(id, 1 - i)) && cut(g_.op(id), x[i], x[1 - i]))
        return x[i];
    return no_id;
  }

  std::vector<Id> first, end;

 private:
  static bool is_constant(const Poly& p) {
    return std::ranges::all_of(p, [](const Monomial& t) { return t.atoms.empty(); });
  }

  // value = c * range + rest. The clamp does nothing while value <= bound (MIN) or value >= bound (MAX). False: the value has
  // another form, or the clamp acts at a known distance from an end of the range (interior.h).
  bool cut(Op op, Id value, Id bound) {
    const auto a = symbolic::sum_of(g_, value), b = symbolic::sum_of(g_, bound);
    auto d = a && b ? symbolic::plus(g_, *b, *a, -1) : std::nullopt;  // bound - value
    if (!d) return false;
    const auto is_range = [&](const Monomial& t) { return t.atoms == std::vector<Id>{range_}; };
    const auto own = std::ranges::find_if(*d, is_range);
    if (own == d->end() || (own->coefficient != 1 && own->coefficient != -1)) return false;
    const bool grows = own->coefficient == -1;  // the value, with the range
    std::erase_if(*d, is_range);
    const auto varies = [&](Id atom) { return varying_.contains(atom); };
    if (std::ranges::any_of(*d, [&](const Monomial& t) { return std::ranges::any_of(t.atoms, varies); })) return false;
    const auto equal = symbolic::scaled(*d, grows ? 1 : -1);  // the iteration in which the value is the bound
    if (!equal || is_constant(*equal)) return false;
    const auto extent = symbolic::sum_of(g_, g_.end(range_));
    const auto from_end = extent ? symbolic::plus(g_, *equal, *extent, -1) : std::nullopt;
    if (from_end && is_constant(*from_end)) return false;
    const Id at = index_from(g_, *equal);
    const bool limits_end = (op == Op::MIN) == grows;
    add(limits_end ? end : first, limits_end ? add_index(g_, at, g_.index(1)) : at);
    return true;
  }

  void add(std::vector<Id>& bounds, Id bound) {
    if (std::ranges::find(bounds, bound) == bounds.end()) bounds.push_back(bound);
  }

  Graph& g_;
  Id range_;
  std::unordered_set<Id> over_range_, varying_;  // varying_: also over the ranges of the loops inside
};

bool has_clamped_access(const Graph& g, std::span<const Id> stores, Id range) {
  return std::ranges::any_of(g.reachable(stores), [&](Id id) {
    if (g.op(id) != Op::LOAD && g.op(id) != Op::STORE) return false;
    const Id index[] = {index_of(g, id)};
    const std::vector<Id> nodes = g.reachable(index);
    return std::ranges::binary_search(nodes, range) && std::ranges::none_of(nodes, [&](Id n) { return g.op(n) == Op::LOAD; }) &&
           std::ranges::any_of(nodes, [&](Id n) { return g.op(n) == Op::MIN || g.op(n) == Op::MAX; });
  });
}

}  // namespace

std::vector<RangePart> clamp_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                   std::span<const LoopPlan> inner, const std::unordered_map<Id, Id>& around,
                                   const Facts& facts) {
  if (!plan.lanes || !has_clamped_access(g, stores, plan.range)) return {};
  Clamps clamps(g, stores, plan.range, inner);
  const Id all = g.make(Op::SINK, DType::none, stores), zero = g.index(0), extent = g.end(plan.range);
  const std::vector<Id> inside = g.sources(rewrite(g, all, [&](Id id, std::span<const Id> x) { return clamps(id, x); }));
  if (std::ranges::equal(inside, stores) || clamps.first.size() + clamps.end.size() > most_clamps) return {};
  Simplifier simplified(g, facts);
  const auto cut_at = [&](std::span<const Id> bounds, Op op, Id least, Id most) {
    Id at = op == Op::MAX ? least : most;
    for (const Id b : bounds) at = index_binary(g, op, at, substitute(g, b, around));
    return simplified(index_binary(g, Op::MAX, index_binary(g, Op::MIN, at, most), least));
  };
  const Id size = substitute(g, extent, around);
  const Id first = cut_at(clamps.first, Op::MAX, zero, size), end = cut_at(clamps.end, Op::MIN, first, size);
  std::vector<RangePart> parts;
  const auto add = [&](Id from, Id to, std::span<const Id> of, bool is_border) {
    const Id length = simplified(sub_index(g, to, from));
    if (g.is_index_const(length, 0)) return true;
    RangePart& part = parts.emplace_back();
    part.first = from;
    part.range = loops.range(g, length, RangeKind::loop);
    part.plan = plan;
    part.plan.range = part.range;
    part.plan.masked_all = is_border;
    const Id iteration = add_index(g, part.range, from);
    for (const Id store : of) part.stores.push_back(simplified(substitute(g, store, {{plan.range, iteration}})));
    // A range of one iteration is the index 0, and stores that do not depend on a range are not in its loop.
    return Bounds(g, facts)(length).max > 1;
  };
  const bool is_cut = add(zero, first, stores, true) && add(first, end, inside, false) && add(end, size, stores, true);
  return is_cut ? parts : std::vector<RangePart>{};
}

}  // namespace kiln::compiler
