// The sums of a Scatter, as kernels.
#include <algorithm>
#include <numeric>

#include "compiler/autodiff/rules.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

// The axis along which the elements of an index tensor are their own positions; -1: none. rank: of the positions.
int axis_of_positions(Emit& e, Id index, std::size_t rank) {
  const Graph& g = e.g;
  const auto widens = [&](Id x) {
    const DType d = g.dtype(x);
    return g.op(x) == Op::CAST && (d == DType::i64 || d == DType::i32) && is_int(g.dtype(g.src(x, 0)));
  };
  Id x = index;
  while (g.op(x) == Op::EXPAND || widens(x)) x = g.src(x, 0);
  const Extents shape = e.shape(x);
  if (g.op(x) == Op::RESHAPE) x = g.data(x);
  while (widens(x)) x = g.src(x, 0);
  if (g.op(x) != Op::IOTA || bits(g.dtype(x)) < 32) return -1;
  const Id n = e.shape(x)[0];
  int axis = -1;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (e.is_one(shape[a])) continue;
    if (axis >= 0 || shape[a] != n) return -1;
    axis = static_cast<int>(rank - shape.size() + a);
  }
  return axis;
}

class Sum {
 public:
  Sum(Emit& e, const Scatter& s, Extents to) : e_(e), g_(e.g), s_(s), to_(std::move(to)) {
    const Extents all = e_.shape(s_.values);
    fixed_ = to_.size() - s_.index.size();
    positions_.assign(all.begin(), all.end() - static_cast<std::ptrdiff_t>(fixed_));
    std::vector<bool> own(positions_.size(), false);
    for (std::size_t i = 0; i < s_.index.size(); ++i) {
      const int axis = axis_of_positions(e_, s_.index[i], positions_.size());
      const bool exact = axis >= 0 && nth(positions_, axis) == to_[i];  // no index is outside
      own_axis_.push_back(exact ? axis : -1);
      if (exact) own[static_cast<std::size_t>(axis)] = true;
    }
    for (std::size_t a = 0; a < own.size(); ++a)
      if (own[a]) own_.push_back(static_cast<std::int64_t>(a));
    order_ = own_;
    for (std::size_t a = 0; a < own.size(); ++a)
      if (!own[a]) order_.push_back(static_cast<std::int64_t>(a));
  }

  // new_range(end, whether a work item has its own value of it).
  template <class NewRange>
  Id kernel(Id init, NewRange&& new_range) {
    Builder& b = e_.b;
    const bool parallel = fixed_ + own_.size() > 0;
    const Id values = in_order(s_.values, fixed_), zero = g_.index(0);
    const Extents flat = e_.shape(values);
    const Id count = flat[own_.size()], place = new_range(count, !parallel);
    std::vector<Id> ranges;
    for (std::size_t i = 0; i < flat.size(); ++i)
      if (i != own_.size()) ranges.push_back(new_range(flat[i], true));
    std::vector<Id> here(ranges.begin(), ranges.begin() + std::ssize(own_));
    here.push_back(place);
    const Id gate = some_element();
    std::vector<Id> at = elements(here);
    at.insert(at.end(), ranges.begin() + std::ssize(own_), ranges.end());
    std::vector<Id> value_at = here;
    value_at.insert(value_at.end(), ranges.begin() + std::ssize(own_), ranges.end());
    const Id value = b.element(values, value_at);
    if (!parallel) {
      const Id state = b.carry(place, init, 0);
      const Id final = b.atomic(AtomicKind::add, state, gate, value, at);
      return b.kernel(std::span(&place, 1), std::span(&init, 1), std::span(&final, 1));
    }
    // Each work item adds its terms in order.
    const Id state = b.carry(ranges[0], init, 0);
    const Id inner = b.carry(place, state, 0);
    const Id old = b.element(inner, at, gate);
    const Id next = b.update(inner, gate, e_.add(old, value), at);
    const Id loop = b.loop(place, zero, count, std::span(&state, 1), std::span(&next, 1));
    const Id final = b.get(loop, 0);
    return b.kernel(ranges, std::span(&init, 1), std::span(&final, 1));
  }

 private:
  // A tensor over the positions, with the own axes first and the others as one.
  Id in_order(Id x, std::size_t more) {
    Axes order = order_;
    Extents to;
    for (std::size_t i = 0; i < more; ++i) order.push_back(static_cast<std::int64_t>(positions_.size() + i));
    const Id moved = e_.permute(x, order);
    const Extents shape = e_.shape(moved);
    const auto rest = shape.begin() + std::ssize(own_), end = shape.begin() + std::ssize(positions_);
    to.assign(shape.begin(), rest);
    to.push_back(index_product(g_, Extents(rest, end)));
    to.insert(to.end(), end, shape.end());
    return e_.reshape(moved, to);
  }

  // Whether there is an element to add to; no_id: always.
  Id some_element() {
    Id gate = no_id;
    const Id zero = g_.index(0);
    for (std::size_t i = 0; i < s_.index.size(); ++i) {
      if (index_value(g_, to_[i])) continue;
      const Id some = e_.b.elementwise(Op::LT, {zero, to_[i]});
      gate = gate == no_id ? some : e_.both(gate, some);
    }
    return gate;
  }

  // The element that a term belongs to: the nearest one, as GATHER reads.
  std::vector<Id> elements(std::span<const Id> here) {
    Builder& b = e_.b;
    std::vector<Id> at;
    const Id zero = g_.index(0);
    for (std::size_t i = 0; i < s_.index.size(); ++i) {
      if (own_axis_[i] >= 0) {
        at.push_back(here[static_cast<std::size_t>(std::ranges::find(own_, own_axis_[i]) - own_.begin())]);
        continue;
      }
      Id k = s_.index[i];
      if (e_.rank(k) != 0) k = b.element(in_order(b.broadcast_to(k, positions_), 0), here);
      if (g_.dtype(k) == DType::u64) {
        const Id most = b.constant(DType::u64, INT64_MAX);
        k = b.elementwise(Op::MIN, {k, most});
      }
      const Id index = b.index_of(k), last = index_sub(g_, to_[i], g_.index(1));
      const Id below = b.elementwise(Op::MIN, {index, last});
      at.push_back(b.elementwise(Op::MAX, {below, zero}));
    }
    return at;
  }

  Emit& e_;
  Graph& g_;
  const Scatter& s_;
  Extents to_, positions_;
  std::size_t fixed_ = 0;
  std::vector<int> own_axis_;  // by index: the axis of positions that it is, or -1
  Axes own_, order_;
};

}  // namespace

Id Rules::scatter(const Scatter& given, Id x) {
  Graph& g = e.g;
  const DType d = g.dtype(x), sum = is_half(d) ? DType::f32 : d;
  const Extents to = e.shape(x);
  if (std::ranges::any_of(to, [&](Id extent) { return g.is_index_const(extent, 0); })) return e.zeros(d, to);
  Scatter s = given;
  if (sum != d) s.values = e.b.cast(s.values, sum);
  const Id init = e.zeros(sum, to);
  const Id kernel = Sum(e, s, to).kernel(init, [&](Id end, bool own) { return new_range(end, own); });
  const Id out = e.b.get(kernel, 0);
  scatters.emplace(out, s);
  return sum == d ? out : e.b.cast(out, d);
}

}  // namespace kiln::compiler::autodiff
