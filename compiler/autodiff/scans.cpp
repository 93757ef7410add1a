#include "compiler/autodiff/scans.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/autodiff/forward.h"
#include "compiler/autodiff/reverse.h"

namespace kiln::compiler::autodiff {
namespace {

constexpr std::int64_t most_products = 16;

class Scan {
 public:
  Scan(Rules& rules, Id derivative, Id node)
      : rules_(rules),
        e_(rules.e),
        g_(rules.e.g),
        derivative_(derivative),
        x_(g_.data(node)),
        kind_(g_.scan_kind(node)),
        axis_(g_.slot(node, 1)),
        exclusive_(g_.arg(node, 2) != 0),
        reversed_(g_.arg(node, 3) != 0) {}

  Id adjoint(Id y) {
    if (kind_ == ReduceKind::sum) return back(y);
    if (kind_ != ReduceKind::prod) return scattered(y);
    if (is_short()) {
      const Id x = own_value(), product = written_out(x);
      return gradients(rules_, derivative_, product, y, std::span(&x, 1))[0];
    }
    const Zeros z = zeros();
    const Id zero = e_.number(z.type, 0), scaled = e_.mul(as(y, z.type), z.product);
    const auto only = [&](Id which, Id value) { return e_.where(which, value, zero); };
    Id by_others = only(z.none, scaled), by_zeros = only(z.single, scaled), by_pairs = no_id;
    if (rules_.is_inner) {
      const Id small = e_.mul(scaled, z.zeros);
      by_others = e_.where(z.single, small, by_others);
      by_zeros = e_.where(z.pair, small, by_zeros);
      const Id x = as(x_, z.type), sum = back(only(z.pair, scaled));
      by_pairs = e_.mul(x, sum);
    }
    Id at_zero = back(by_zeros);
    if (by_pairs != no_id) at_zero = e_.sub(at_zero, by_pairs);
    const Id elsewhere = e_.div(back(by_others), z.others);
    return as(e_.where(z.here, at_zero, elsewhere), g_.dtype(x_));
  }

  Id tangent(Id t, Id lead) {
    shift_ = lead == no_id ? 0 : 1;
    if (kind_ == ReduceKind::sum) return running(ReduceKind::sum, t);
    if (kind_ != ReduceKind::prod) return taken(t);
    if (is_short()) {
      const Id x = own_value(), product = written_out(x);
      const Id along[] = {x, t};
      return autodiff::tangent(rules_, derivative_, product, along);
    }
    const Zeros z = zeros();
    const Id wide = as(t, z.type), zero = e_.number(z.type, 0);
    const Id relative = e_.div(wide, z.others), at_zero = e_.where(z.here, wide, zero);
    const Id without = running(ReduceKind::sum, rules_.is_inner ? e_.where(z.here, zero, relative) : relative);
    Id single = running(ReduceKind::sum, at_zero), several = zero;
    if (rules_.is_inner) {
      const Id small = e_.mul(at_zero, as(x_, z.type));
      const Id all = e_.mul(z.zeros, single), equal = running(ReduceKind::sum, small);
      several = e_.where(z.pair, e_.sub(all, equal), zero);
      single = e_.add(single, e_.mul(z.zeros, without));
    }
    const Id sum = e_.where(z.none, without, e_.where(z.single, single, several));
    return as(e_.mul(z.product, sum), g_.dtype(x_));
  }

 private:
  // In f32 for halves. The products leave zeros out.
  struct Zeros {
    DType type;
    Id here, others;                 // whether the element is 0; the element, or 1
    Id product, none, single, pair;  // of the elements up to here: their product, whether none, one, two of them are 0
    Id zeros;                        // if another derivative follows: the sum of the elements up to here that are 0
  };
  Zeros zeros() {
    const DType type = is_half(g_.dtype(x_)) ? DType::f32 : g_.dtype(x_);
    const Id x = as(x_, type), here = e_.equal(x, e_.number(type, 0));
    const Id others = e_.where(here, e_.number(type, 1), x);
    const std::int64_t shift = std::exchange(shift_, 0);
    const Id count = running(ReduceKind::sum, e_.b.cast(here, DType::i64)), product = running(ReduceKind::prod, others);
    Id sum = no_id;
    if (rules_.is_inner) sum = running(ReduceKind::sum, e_.where(here, x, e_.number(type, 0)));
    shift_ = shift;
    const auto is = [&](std::uint64_t n) { return e_.equal(count, e_.b.constant(DType::i64, n)); };
    const Id none = is(0), single = is(1);
    if (!rules_.is_inner) return {type, here, others, product, none, single, no_id, no_id};
    const Id pair = is(2);
    return {type, here, others, product, none, single, pair, sum};
  }

  Id as(Id x, DType d) { return g_.dtype(x) == d ? x : e_.b.cast(x, d); }
  Id running(ReduceKind kind, Id x) {
    return e_.b.scan(kind, x, static_cast<std::int64_t>(axis_) + shift_, exclusive_, reversed_);
  }
  Id back(Id y) { return e_.b.scan(ReduceKind::sum, y, static_cast<std::int64_t>(axis_), exclusive_, !reversed_); }

  bool is_short() {
    const auto n = index_value(g_, e_.shape(x_)[axis_]);
    return n && *n <= most_products;
  }
  Id own_value() { return e_.b.mark(x_, MarkKind::independent, 0); }
  Id flipped(Id x) {
    const Id n = e_.shape(x)[axis_];
    const Id last = index_sub(g_, n, g_.index(1));
    return reversed_ ? e_.slice_axis(x, axis_, last, -1, n) : x;
  }
  // x moved by some places along the axis, behind ones.
  Id behind_ones(Id x, std::int64_t places) {
    Extents to = e_.shape(x), before(to.size(), g_.index(0));
    const Id n = to[axis_], first = g_.index(0);
    before[axis_] = g_.index(places);
    to[axis_] = index_add(g_, n, before[axis_]);
    const Id longer = e_.b.pad(x, e_.number(g_.dtype(x), 1), PadMode::constant, before, to);
    return e_.slice_axis(longer, axis_, first, 1, n);
  }
  // The running product as multiplications of all elements by those 1, 2, 4.. places before.
  Id written_out(Id x) {
    const std::int64_t n = index_value(g_, e_.shape(x)[axis_]).value();
    if (n == 0) return x;
    Id product = flipped(x);
    if (exclusive_) product = behind_ones(product, 1);
    for (std::int64_t places = 1; places < n; places *= 2) {
      const Id before = behind_ones(product, places);
      product = e_.mul(product, before);
    }
    return flipped(product);
  }

  // The place of the element that each result of max or min is. Where there is none yet, a place outside of the axis.
  Id places() {
    const Extents shape = e_.shape(x_);
    const Id before = e_.b.scan(kind_, x_, static_cast<std::int64_t>(axis_), true, reversed_), n = shape[axis_];
    const Id greater = kind_ == ReduceKind::max ? e_.less(before, x_) : e_.less(x_, before);
    const Id is_nan = e_.b.elementwise(Op::NE, {x_, x_}), was_number = e_.equal(before, before);
    const Id takes = e_.b.elementwise(Op::OR, {greater, e_.both(is_nan, was_number)});
    const Id place = e_.iota_along(axis_, shape.size(), n);
    const Id outside = e_.b.constant(DType::i64, 0);
    const Id last = index_sub(g_, n, g_.index(1));
    // The first element is taken even if it equals the result of no elements.
    const Id first = e_.equal(place, reversed_ ? e_.b.cast(last, DType::i64) : outside);
    const Id taken = e_.b.elementwise(Op::OR, {takes, first});
    const ReduceKind latest = reversed_ ? ReduceKind::min : ReduceKind::max;
    const Id none = reversed_ ? e_.b.cast(last, DType::i64) : outside;
    const Id candidates = e_.where(taken, place, none);
    return e_.b.scan(latest, candidates, static_cast<std::int64_t>(axis_), false, reversed_);
  }
  // With `exclusive` the result of an element is that of the element before, and the first one is none.
  Id moved_by_one(Id x, bool back_again) {
    const std::size_t axis = axis_ + static_cast<std::size_t>(shift_);
    const Extents shape = e_.shape(x);
    const Id n = shape[axis], one = g_.index(1), zero = g_.index(0);
    const bool up = reversed_ == back_again;
    const Id longer = e_.pad_axis(x, axis, up ? one : zero, index_add(g_, n, one));
    return e_.slice_axis(longer, axis, up ? zero : one, 1, n);
  }
  Axes axis_first(std::size_t rank) const {
    Axes order(rank);
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis_));
    order.insert(order.begin(), static_cast<std::int64_t>(axis_));
    return order;
  }
  Axes axis_back(std::size_t rank) const {
    Axes order(rank);
    std::iota(order.begin(), order.end(), 1);
    order[axis_] = 0;
    for (std::size_t i = axis_ + 1; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
    return order;
  }

  // The indices of element (at(i, j..), j..) of a tensor.
  std::vector<Id> with_rows(Id at) {
    std::vector<Id> out{at};
    const Extents shape = e_.shape(at);
    for (std::size_t a = 1; a < shape.size(); ++a) out.push_back(e_.iota_along(a, shape.size(), shape[a]));
    return out;
  }
  bool is_empty() {
    const Extents shape = e_.shape(x_);
    return std::ranges::any_of(shape, [&](Id n) { return g_.is_index_const(n, 0); });
  }
  Id scattered(Id y) {
    if (is_empty()) return y;
    const std::size_t rank = e_.rank(x_);
    if (exclusive_) y = moved_by_one(y, true);
    const Id values = e_.permute(y, axis_first(rank)), place = places();
    const Id at = e_.permute(place, axis_first(rank));
    const Id like = e_.permute(x_, axis_first(rank));
    const Id sum = rules_.scatter({values, with_rows(at)}, like);
    return e_.permute(sum, axis_back(rank));
  }
  Id taken(Id t) {
    if (is_empty()) return t;
    const std::size_t rank = e_.rank(x_);
    const Id place = places();
    const Id at = e_.permute(place, axis_first(rank));
    Axes order = axis_first(rank);
    if (shift_ != 0) {
      for (std::int64_t& a : order) ++a;
      order.push_back(0);
    }
    const Id line = e_.permute(t, order);
    const Id read = e_.b.gather(line, with_rows(at));
    Axes to_back = axis_back(rank);
    if (shift_ != 0) to_back.insert(to_back.begin(), static_cast<std::int64_t>(rank));
    const Id all = e_.permute(read, to_back);
    return exclusive_ ? moved_by_one(all, false) : all;
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id derivative_, x_;
  ReduceKind kind_;
  std::size_t axis_;
  bool exclusive_, reversed_;
  std::int64_t shift_ = 0;
};

}  // namespace

Id scan_adjoint(Rules& rules, Id derivative, Id scan, Id adjoint) { return Scan(rules, derivative, scan).adjoint(adjoint); }

Id scan_tangent(Rules& rules, Id derivative, Id lead, Id scan, Id tangent) {
  return Scan(rules, derivative, scan).tangent(tangent, lead);
}

}  // namespace kiln::compiler::autodiff
