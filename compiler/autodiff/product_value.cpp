// Makes the nodes of a Product: a contraction, or a multiplication.
#include <algorithm>

#include "compiler/autodiff/factor.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

Id whole(Emit& e, Factor f, const Extents& space) {
  put_in_order(e, f);
  Extents ones(space.size(), e.g.index(1));
  for (std::size_t i = 0; i < space.size(); ++i)
    if (f.axis[i] >= 0) ones[i] = space[i];
  const Id x = e.reshape(f.base, ones);
  return ones == space ? x : e.b.expand(x, space);
}

// The same without axes of extent 1 in the space.
Product without_units(const Emit& e, const Product& p) {
  Product out;
  out.p.base = p.p.base;
  out.q.base = p.q.base;
  std::vector<int> to;
  for (std::size_t a = 0; a < p.space.size(); ++a) {
    const bool keep = !e.is_one(p.space[a]);
    to.push_back(keep ? static_cast<int>(out.space.size()) : Product::unit);
    if (!keep) continue;
    out.space.push_back(p.space[a]);
    out.p.axis.push_back(p.p.axis[a]);
    out.q.axis.push_back(p.q.axis[a]);
  }
  for (const int v : p.value) out.value.push_back(v == Product::unit ? v : nth(to, v));
  return out;
}

// The sums of fewer products are not worth a copy of a factor.
constexpr std::int64_t shortest_copied = 256;

bool is_summed(const Product& p, int axis) { return std::ranges::find(p.value, axis) == p.value.end(); }

// The last axis whose extent is not 1; -1: there is none.
int last_wide(const Emit& e, const Extents& extents) {
  const std::vector<int> wide = wide_axes(e, extents);
  return wide.empty() ? -1 : wide.back();
}

// The axis along which neighbours are neighbours in memory, if x moves a tensor that is stored in row-major order; -1: not
// known.
int contiguous_axis(Emit& e, Id x) {
  std::vector<Id> moved;
  for (; is_movement(e.g.op(x)) && e.g.op(x) != Op::CONCAT; x = e.g.data(x)) moved.push_back(x);
  int axis = last_wide(e, e.shape(x));
  for (std::size_t i = moved.size(); i-- > 0 && axis >= 0;) {
    const Id node = moved[i];
    if (e.g.op(node) == Op::PERMUTE) {
      const auto axes = e.g.args(node);
      axis = static_cast<int>(std::ranges::find(axes, axis) - axes.begin());
    } else if (e.g.op(node) == Op::RESHAPE) {
      const Extents from = e.shape(e.g.data(node));
      if (axis == last_wide(e, from)) {
        axis = last_wide(e, e.shape(node));
        continue;
      }
      Factor f{node, {}};
      for (std::size_t a = 0; a < e.rank(node); ++a) f.axis.push_back(static_cast<int>(a));
      if (!peel_reshape(e, f)) return -1;
      const auto at = std::ranges::find(f.axis, axis);
      axis = at == f.axis.end() ? -1 : static_cast<int>(at - f.axis.begin());
    }
  }
  return axis;
}

// Whether the products are summed along several axes, along which both factors are contiguous. Neither factor then has
// neighbours for the elements of the result, as in the derivative of a convolution by its filter.
bool walks_along_both(Emit& e, const Product& p) {
  std::int64_t terms = 1;
  int axes = 0;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    if (!is_summed(p, a)) continue;
    ++axes;
    const std::int64_t n = index_value(e.g, nth(p.space, a)).value_or(shortest_copied);
    terms = terms >= shortest_copied || n >= shortest_copied ? shortest_copied : terms * n;
  }
  if (axes < 2 || terms < shortest_copied) return false;
  for (const Factor* f : {&p.p, &p.q}) {
    const int last = contiguous_axis(e, f->base);
    const auto at = std::ranges::find(f->axis, last);
    if (last < 0 || at == f->axis.end() || !is_summed(p, static_cast<int>(at - f->axis.begin()))) return false;
  }
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    if (!is_summed(p, a) && nth(p.p.axis, a) >= 0 && nth(p.q.axis, a) < 0) return true;
  return false;
}

// The axes of the result that only p has become the last ones of the space and of a copy of p.
Product with_neighbours(Emit& e, const Product& p) {
  std::vector<int> order, inner, to(p.space.size());
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    (!is_summed(p, a) && nth(p.p.axis, a) >= 0 && nth(p.q.axis, a) < 0 ? inner : order).push_back(a);
  order.insert(order.end(), inner.begin(), inner.end());
  Product out;
  out.p.base = p.p.base;
  out.q.base = p.q.base;
  for (std::size_t i = 0; i < order.size(); ++i) {
    nth(to, order[i]) = static_cast<int>(i);
    out.space.push_back(nth(p.space, order[i]));
    out.p.axis.push_back(nth(p.p.axis, order[i]));
    out.q.axis.push_back(nth(p.q.axis, order[i]));
  }
  for (const int v : p.value) out.value.push_back(v == Product::unit ? v : nth(to, v));
  put_in_order(e, out.p);
  out.p.base = e.b.stage(out.p.base);
  return out;
}

// Some neighbouring parts of the last split, which have equally many taps, as an axis of the adjoint behind the split one.
Product parts_of(Emit& e, const Product& given, std::int64_t first_part, std::int64_t parts, std::int64_t taps) {
  Product p = given;
  const Split s = p.splits.back();
  p.splits.pop_back();
  const Id begin = e.g.index(first_part), count = e.g.index(parts), own = e.g.index(taps);
  const Id first_tap = index_sub(e.g, nth(p.space, s.tap), own);
  for (Factor* f : {&p.p, &p.q}) {
    const int part = nth(f->axis, s.part), tap = nth(f->axis, s.tap);
    if (part >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(part), begin, 1, count);
    if (tap >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(tap), first_tap, 1, own);
  }
  nth(p.space, s.part) = count;
  nth(p.space, s.tap) = own;
  p.value.insert(p.value.begin() + static_cast<std::ptrdiff_t>(s.axis) + 1, s.part);
  for (Split& other : p.splits) other.axis += other.axis > s.axis ? 1 : 0;
  return p;
}

// The parts of the last split side by side. The first ones may have one tap more than the others.
Id joined(Emit& e, const Product& p) {
  const Split s = p.splits.back();
  const std::int64_t longer = s.taps % s.stride, taps = s.taps / s.stride;
  std::vector<Id> groups;
  if (longer > 0) groups.push_back(value_of(e, parts_of(e, p, 0, longer, taps + 1)));
  if (taps > 0) groups.push_back(value_of(e, parts_of(e, p, longer, s.stride - longer, taps)));
  Extents whole = e.shape(groups[0]);
  if (groups.size() == 2 && p.splits.size() == 1)
    for (Id& group : groups) group = e.b.stage(group);
  if (taps == 0) {
    Extents rest = whole;
    rest[s.axis + 1] = e.g.index(s.stride - longer);
    groups.push_back(e.zeros(e.g.dtype(groups[0]), rest));
  }
  const Id all = groups.size() == 1 ? groups[0] : e.b.concat(groups, static_cast<std::int64_t>(s.axis) + 1);
  whole[s.axis] = index_mul(e.g, whole[s.axis], e.g.index(s.stride));
  whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(s.axis) + 1);
  const Id line = e.reshape(all, whole), begin = e.g.index(0);
  return e.slice_axis(line, s.axis, begin, 1, s.n);
}

}  // namespace

Id value_of(Emit& e, const Product& given) {
  if (!given.splits.empty()) return joined(e, given);
  Product p = without_units(e, given);
  const bool copied = walks_along_both(e, p);
  if (copied) p = with_neighbours(e, p);
  const Id left = whole(e, p.p, p.space), right = whole(e, p.q, p.space);
  Axes summed;
  std::vector<int> kept;
  for (int i = 0; i < static_cast<int>(p.space.size()); ++i) {
    if (is_summed(p, i))
      summed.push_back(i);
    else
      kept.push_back(i);
  }
  Id x = summed.empty() ? e.mul(left, right) : e.b.reduce_fma(left, right, summed);
  if (copied) x = e.b.stage(x);
  Axes order;
  Extents to;
  for (const int v : p.value) {
    to.push_back(v == Product::unit ? e.g.index(1) : nth(p.space, v));
    if (v != Product::unit) order.push_back(std::ranges::find(kept, v) - kept.begin());
  }
  x = e.permute(x, order);
  return e.reshape(x, to);
}

Id value_of(Emit& e, const Adjoint& a) {
  return std::holds_alternative<Id>(a) ? std::get<Id>(a) : value_of(e, std::get<Product>(a));
}

}  // namespace kiln::compiler::autodiff
