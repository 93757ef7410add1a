// Makes the nodes of a Product: a contraction, or a multiplication.
#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

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
constexpr std::int64_t shortest_copied = 32;
constexpr std::int64_t fewest_neighbours = 6;  // elements of the result side by side that nearly fill a vector
constexpr std::int64_t elements_of_vector = 8;
constexpr std::int64_t shortest_row = 17;  // products side by side whose sums come last

bool is_summed(const Product& p, int axis) { return std::ranges::find(p.value, axis) == p.value.end(); }

// The last axis whose extent is not 1; -1: there is none.
int last_wide(const Emit& e, const Extents& extents) {
  const std::vector<int> wide = wide_axes(e, extents);
  return wide.empty() ? -1 : wide.back();
}

// The axis of `to` that is the axis of `from`, if the axes from it on are the same but for axes of extent 1; else -1.
int same_from_behind(const Emit& e, const Extents& from, const Extents& to, int axis) {
  const std::vector<int> before = wide_axes(e, from), after = wide_axes(e, to);
  for (std::size_t k = 1; k <= std::min(before.size(), after.size()); ++k) {
    const int a = before[before.size() - k], b = after[after.size() - k];
    if (nth(from, a) != nth(to, b)) return -1;
    if (a == axis) return b;
  }
  return -1;
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
      if (const int same = same_from_behind(e, from, e.shape(node), axis); same >= 0) {
        axis = same;
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

bool is_short(const Emit& e, const Product& p, int axis) {
  const std::optional<std::int64_t> n = index_value(e.g, nth(p.space, axis));
  return n && *n < fewest_neighbours;
}

// Whether x repeats elements in overlapping windows. A copy of it would be many times its size.
bool has_windows(const Emit& e, Id x) {
  for (; is_movement(e.g.op(x)) && e.g.op(x) != Op::CONCAT; x = e.g.data(x))
    if (e.g.op(x) == Op::SHEAR) return true;
  return false;
}

// The number of products in a sum, at most shortest_copied. An unknown extent counts as many.
std::int64_t terms_of(const Emit& e, const Product& p) {
  std::int64_t terms = 1;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    if (!is_summed(p, a)) continue;
    const std::int64_t n = index_value(e.g, nth(p.space, a)).value_or(shortest_copied);
    terms = terms >= shortest_copied || n >= shortest_copied ? shortest_copied : std::min(shortest_copied, terms * n);
  }
  return terms;
}

// Whether the products are summed along several axes, and neighbours in memory of both factors are neighbours along a summed
// axis, or along a short one. Neither factor then has neighbours for the elements of the result, as in the derivative of a
// convolution by its filter. Only p's own axes get neighbours by a copy of p, so one of them is long, or no axis is.
bool walks_along_both(Emit& e, const Product& p) {
  int axes = 0;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) axes += is_summed(p, a) ? 1 : 0;
  if (axes < 2 || terms_of(e, p) < shortest_copied || has_windows(e, p.p.base)) return false;
  for (const Factor* f : {&p.p, &p.q}) {
    const int last = contiguous_axis(e, f->base);
    const auto at = std::ranges::find(f->axis, last);
    if (last < 0 || at == f->axis.end()) return false;
    const auto axis = static_cast<int>(at - f->axis.begin());
    if (!is_summed(p, axis) && !is_short(e, p, axis)) return false;
  }
  bool has_own = false, has_long = false;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    if (is_summed(p, a)) continue;
    const bool is_own = nth(p.p.axis, a) >= 0 && nth(p.q.axis, a) < 0;
    if (is_own && !is_short(e, p, a)) return true;
    has_own = has_own || is_own;
    has_long = has_long || !is_short(e, p, a);
  }
  return has_own && !has_long;
}

// The same product with the axes of the space in this order.
Product reordered(const Product& p, const std::vector<int>& order) {
  Product out;
  out.p.base = p.p.base;
  out.q.base = p.q.base;
  std::vector<int> to(p.space.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    nth(to, order[i]) = static_cast<int>(i);
    out.space.push_back(nth(p.space, order[i]));
    out.p.axis.push_back(nth(p.p.axis, order[i]));
    out.q.axis.push_back(nth(p.q.axis, order[i]));
  }
  for (const int v : p.value) out.value.push_back(v == Product::unit ? v : nth(to, v));
  return out;
}

// The axes of the result that only p has become the last ones of the space and of a copy of p.
Product with_neighbours(Emit& e, const Product& p) {
  std::vector<int> order, inner;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    (!is_summed(p, a) && nth(p.p.axis, a) >= 0 && nth(p.q.axis, a) < 0 ? inner : order).push_back(a);
  order.insert(order.end(), inner.begin(), inner.end());
  Product out = reordered(p, order);
  put_in_order(e, out.p);
  out.p.base = e.b.stage(out.p.base);
  return out;
}

// Whether the result ends in a short axis, so that its neighbours in memory do not fill a vector, but has a long one too. As in
// the derivative by the input of a convolution with a stride, and by the filter of a depthwise one.
bool ends_in_short_axis(const Emit& e, const Product& p) {
  std::vector<int> kept;
  std::ranges::copy_if(p.value, std::back_inserter(kept), [](int v) { return v != Product::unit; });
  return !kept.empty() && is_short(e, p, kept.back()) && std::ranges::any_of(kept, [&](int v) { return !is_short(e, p, v); }) &&
         terms_of(e, p) >= shortest_copied;
}

// The short axes of the result become the first ones of the space, the others keep their order in the result.
Product with_short_axes_first(const Emit& e, const Product& p) {
  std::vector<int> order, others;
  for (const int v : p.value)
    if (v != Product::unit) (is_short(e, p, v) ? order : others).push_back(v);
  order.insert(order.end(), others.begin(), others.end());
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    if (is_summed(p, a)) order.push_back(a);
  return reordered(p, order);
}

// Whether the sums along the last summed axis come last: it is long, neighbours in memory of both factors are neighbours along
// it, and the axes of the result that are not in both factors are all in the same one and would not fill a vector. So the sums
// of all rows have at most as many elements as the larger factor, times these axes.
bool sums_rows_last(Emit& e, const Product& p) {
  int row = -1, axes = 0;
  bool is_in_p_only = false, is_in_q_only = false;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    const std::optional<std::int64_t> n = index_value(e.g, nth(p.space, a));
    if (is_summed(p, a)) {
      row = a;
      ++axes;
      continue;
    }
    const bool is_in_p = nth(p.p.axis, a) >= 0, is_in_q = nth(p.q.axis, a) >= 0;
    if ((is_in_p && is_in_q) || n == 1) continue;
    if (!n || *n >= elements_of_vector) return false;
    is_in_p_only |= is_in_p;
    is_in_q_only |= is_in_q;
  }
  if (is_in_p_only && is_in_q_only) return false;
  if (axes < 2 || index_value(e.g, nth(p.space, row)).value_or(shortest_row) < shortest_row) return false;
  return std::ranges::all_of(std::array{&p.p, &p.q}, [&](const Factor* f) {
    const int last = contiguous_axis(e, f->base);
    return last >= 0 && nth(f->axis, row) == last;
  });
}

// The sums of the products over the other summed axes, one for each place in a row, and then the sum of the row.
Id sum_of_rows(Emit& e, const Product& given) {
  std::vector<int> order, summed;
  std::ranges::copy_if(given.value, std::back_inserter(order), [](int v) { return v != Product::unit; });
  const auto kept = std::ssize(order);
  for (int a = 0; a < static_cast<int>(given.space.size()); ++a)
    if (is_summed(given, a)) summed.push_back(a);
  order.insert(order.end(), summed.begin(), summed.end());
  const Product p = reordered(given, order);
  Axes chain(summed.size() - 1);
  std::iota(chain.begin(), chain.end(), kept);
  const DType d = e.g.dtype(p.p.base);
  const auto factor = [&](const Factor& f) {
    const Id x = whole(e, f, p.space);
    return is_half(d) ? e.b.cast(x, DType::f32) : x;
  };
  const Id p_all = factor(p.p), q_all = factor(p.q);
  const Id sum = e.sum_over(e.b.stage(e.b.reduce_fma(p_all, q_all, chain)), {kept});
  Extents to;
  for (const int v : p.value) to.push_back(v == Product::unit ? e.g.index(1) : nth(p.space, v));
  return e.reshape(is_half(d) ? e.b.cast(sum, d) : sum, to);
}

// Neighbouring parts of a split, which have equally many taps and begin at the same place of the axis h'.
struct Parts {
  std::int64_t first, end;  // of the parts
  std::int64_t taps, begin;
};

// Some parts of the last split, as an axis of the adjoint behind the split one, which has `count` elements of each part.
Product parts_of(Emit& e, const Product& given, const Parts& some, Id count) {
  Product p = given;
  const Split s = p.splits.back();
  p.splits.pop_back();
  const Id first = e.g.index(some.first), parts = e.g.index(some.end - some.first), own = e.g.index(some.taps);
  const Id first_tap = index_sub(e.g, nth(p.space, s.tap), own), begin = e.g.index(some.begin);
  for (Factor* f : {&p.p, &p.q}) {
    const int part = nth(f->axis, s.part), tap = nth(f->axis, s.tap);
    if (part >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(part), first, 1, parts);
    if (tap >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(tap), first_tap, 1, own);
  }
  nth(p.space, s.part) = parts;
  nth(p.space, s.tap) = own;
  slice(e, p, s.axis, begin, 1, count);
  p.value.insert(p.value.begin() + static_cast<std::ptrdiff_t>(s.axis) + 1, s.part);
  for (Split& other : p.splits) other.axis += other.axis > s.axis ? 1 : 0;
  return p;
}

// The parts of the last split, in the order in which their first elements follow each other on the axis. The first parts may
// have one tap more than the others, and those before the axis' begin give their next element first.
std::vector<Parts> all_parts(const Split& s) {
  const std::int64_t longer = s.taps % s.stride, before = s.begin % s.stride;
  std::int64_t cuts[] = {0, longer, before, s.stride};
  std::ranges::sort(cuts);
  std::vector<Parts> out;
  for (std::size_t i = 0; i + 1 < std::size(cuts); ++i)
    if (cuts[i] < cuts[i + 1])
      out.push_back({cuts[i], cuts[i + 1], s.taps / s.stride + (cuts[i] < longer ? 1 : 0),
                     s.begin / s.stride + (cuts[i] < before ? 1 : 0)});
  std::ranges::rotate(out, std::ranges::find(out, before, &Parts::first));
  return out;
}

// The parts of the last split side by side.
Id joined(Emit& e, const Product& p) {
  const Split s = p.splits.back();
  const Id stride = e.g.index(s.stride), more = index_add(e.g, s.n, e.g.index(s.stride - 1));
  const Id count = index_floordiv(e.g, more, stride);
  const std::vector<Parts> all = all_parts(s);
  std::vector<Id> values(all.size(), no_id);
  Extents whole;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].taps == 0) continue;
    values[i] = value_of(e, parts_of(e, p, all[i], count));
    if (p.splits.size() == 1) values[i] = e.b.stage(values[i]);
    whole = e.shape(values[i]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {  // parts without taps
    Extents zeros = whole;
    zeros[s.axis + 1] = e.g.index(all[i].end - all[i].first);
    if (values[i] == no_id) values[i] = e.zeros(e.g.dtype(p.p.base), zeros);
  }
  const Id all_values = values.size() == 1 ? values[0] : e.b.concat(values, static_cast<std::int64_t>(s.axis) + 1);
  whole[s.axis] = index_mul(e.g, count, stride);
  whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(s.axis) + 1);
  const Id line = e.reshape(all_values, whole), begin = e.g.index(0);
  return e.slice_axis(line, s.axis, begin, 1, s.n);
}

}  // namespace

Id value_of(Emit& e, const Product& given) {
  if (!given.splits.empty()) return joined(e, given);
  Product p = without_units(e, given);
  if (sums_rows_last(e, p)) return sum_of_rows(e, p);
  const bool of_both = walks_along_both(e, p), copied = of_both || ends_in_short_axis(e, p);
  if (copied) p = of_both ? with_neighbours(e, p) : with_short_axes_first(e, p);
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
