#include "compiler/lower/active_parts.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "compiler/lower/index_vector.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

// The iterations first <= range < end of each part.
struct Cut {
  Id condition = no_id;
  std::vector<std::pair<Id, Id>> parts;
};

class ActiveCut {
 public:
  ActiveCut(Graph& g, std::span<const Id> stores, Id range, std::span<const LoopPlan> inside)
      : g_(g), range_(range), nodes_(g.reachable(stores)), over_range_(depends_on_range(g, nodes_, range)) {
    for (const LoopPlan& p : inside) inner_.merge(depends_on_range(g, nodes_, p.range));
    for (const Id id : nodes_) {
      const bool is_data = g_.op(id) == Op::LOAD || std::ranges::any_of(g_.src(id), [&](Id s) { return data_.contains(s); });
      if (is_data) data_.insert(id);
    }
  }

  std::optional<Cut> find() {
    for (const Id condition : common()) {
      if (inner_.contains(condition) || data_.contains(condition) || g_.lanes(condition) != 1) continue;
      if (!over_range_.contains(condition)) return all_or_none(condition);
      if (auto cut = at_boundary(condition)) return cut;
    }
    return std::nullopt;
  }

 private:
  std::vector<Id> conditions(Id store) const {
    std::vector<Id> out;
    if (g_.src(store).size() < 4) return out;
    out.push_back(g_.src(store, 3));
    for (std::size_t i = 0; i < out.size(); ++i)
      if (g_.op(out[i]) == Op::AND) {
        const auto [a, b] = g_.operands<2>(out[i]);
        out.insert(out.end(), {a, b});
      }
    std::erase_if(out, [&](Id c) { return g_.op(c) == Op::AND || g_.is_const(c); });
    return out;
  }

  // Of all stores: those before the last one of a state count too.
  std::vector<Id> common() const {
    std::optional<std::vector<Id>> out;
    for (const Id id : nodes_) {
      if (g_.op(id) != Op::STORE) continue;
      const std::vector<Id> here = conditions(id);
      if (!out) out = here;
      std::erase_if(*out, [&](Id c) { return std::ranges::find(here, c) == here.end(); });
    }
    return out.value_or(std::vector<Id>{});
  }

  Cut all_or_none(Id condition) {
    const Id zero = g_.index(0), end = g_.make(Op::WHERE, DType::index, {condition, g_.end(range_), zero});
    return {condition, {{zero, end}}};
  }

  std::optional<Cut> at_boundary(Id condition) {
    const Op op = g_.op(condition);
    if (!is_comparison(op) || g_.dtype(g_.src(condition, 0)) != DType::index) return std::nullopt;
    const auto [a, b] = g_.operands<2>(condition);
    const auto left = symbolic::sum_of(g_, a), right = symbolic::sum_of(g_, b);
    auto d = left && right ? symbolic::plus(g_, *right, *left, -1) : std::nullopt;  // the condition compares d with 0
    if (!d) return std::nullopt;
    const auto is_range = [&](const Monomial& t) { return t.atoms == std::vector<Id>{range_}; };
    const auto own = std::ranges::find_if(*d, is_range);
    if (own == d->end() || (own->coefficient != 1 && own->coefficient != -1)) return std::nullopt;
    const std::int64_t c = own->coefficient;
    std::erase_if(*d, is_range);
    const auto varies = [&](const Monomial& t) {
      return std::ranges::any_of(t.atoms, [&](Id atom) { return over_range_.contains(atom); });
    };
    if (std::ranges::any_of(*d, varies)) return std::nullopt;
    const auto equal = symbolic::scaled(*d, -c);  // the iteration in which d is 0
    if (!equal) return std::nullopt;
    const Id at = index_from(g_, *equal), next = add_index(g_, at, g_.index(1)), zero = g_.index(0), all = g_.end(range_);
    switch (op) {
      case Op::EQ: return std::nullopt;  // one iteration
      case Op::NE: return Cut{condition, {{zero, at}, {next, all}}};
      case Op::LT: return Cut{condition, {c == 1 ? std::pair(next, all) : std::pair(zero, at)}};
      default: return Cut{condition, {c == 1 ? std::pair(at, all) : std::pair(zero, next)}};
    }
  }

  Graph& g_;
  Id range_;
  std::vector<Id> nodes_;
  std::unordered_set<Id> over_range_, inner_, data_;
};

}  // namespace

std::vector<RangePart> active_parts(Graph& g, RangeIds& loops, std::span<const Id> stores, const LoopPlan& plan,
                                    std::span<const LoopPlan> inside, const std::unordered_map<Id, Id>& around,
                                    const Facts& facts) {
  if (stores.empty()) return {};
  const auto cut = ActiveCut(g, stores, plan.range, inside).find();
  if (!cut) return {};
  const Id zero = g.index(0), extent = g.end(plan.range), always = g.constant(DType::boolean, 1);
  Simplifier simplified(g, facts);
  const auto inside_range = [&](Id bound) {
    return simplified(substitute(g, index_binary(g, Op::MAX, index_binary(g, Op::MIN, bound, extent), zero), around));
  };
  std::vector<RangePart> parts;
  for (const auto& [begin, end] : cut->parts) {
    RangePart& part = parts.emplace_back();
    // Without a limit: behind the extent the part is empty, and an index with two limits is harder to bound.
    part.first = simplified(substitute(g, index_binary(g, Op::MAX, begin, zero), around));
    const Id length = simplified(index_binary(g, Op::MAX, sub_index(g, inside_range(end), part.first), zero));
    // A range of one iteration is the index 0, and stores that do not depend on a range are not in its loop.
    if (Bounds(g, facts)(length).max <= 1) return {};
    part.range = loops.range(g, length, RangeKind::loop);
    part.plan = plan;
    part.plan.range = part.range;
    const Id iteration = add_index(g, part.range, part.first);
    for (const Id store : stores) {
      const Id here = substitute(g, store, {{cut->condition, always}, {plan.range, iteration}});
      part.stores.push_back(without_known_gates(g, simplified(here)));
    }
  }
  return parts;
}

}  // namespace kiln::compiler
