#include "compiler/autodiff/product_layout.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "compiler/autodiff/factor.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

// Sums of fewer products are not worth a copy of the result. If no factor has neighbours for it, each product costs as much as
// several others, and shorter sums pay, if an axis fills vectors.
constexpr std::int64_t shortest_copied = 32, shortest_along_both = 4;
constexpr std::int64_t bytes_of_panel = 64, smallest_in_panels = 2, passes_for_panels = 32;
constexpr double cost_of_windows = 4;          // of copying an element into all its windows, beside a copy of a matrix
constexpr std::int64_t fewest_neighbours = 6;  // elements of the result side by side that nearly fill a vector

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

}  // namespace

bool is_summed(const Product& p, int axis) { return std::ranges::find(p.value, axis) == p.value.end(); }

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

namespace {

bool is_own(const Factor& f, const Factor& other, int axis) { return nth(f.axis, axis) >= 0 && nth(other.axis, axis) < 0; }

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
  if (axes < 2 || terms_of(e, p) < shortest_along_both || has_windows(e, p.p.base)) return false;
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
    const bool own = is_own(p.p, p.q, a);
    if (own && !is_short(e, p, a)) return true;
    has_own = has_own || own;
    has_long = has_long || !is_short(e, p, a);
  }
  return has_own && !has_long && terms_of(e, p) >= shortest_copied;
}

// The product of the extents; nullopt: it is not constant.
std::optional<std::int64_t> elements_of(const Emit& e, const Product& p, const std::vector<int>& axes) {
  std::int64_t n = 1;
  for (const int a : axes)
    if (__builtin_mul_overflow(n, index_value(e.g, nth(p.space, a)).value_or(0), &n)) return std::nullopt;
  return n == 0 ? std::nullopt : std::optional(n);
}

// Whether x is a tensor in row-major order, perhaps in another shape.
bool is_in_order(Emit& e, Id x) {
  const auto takes_all = [&](Id slice) {
    const std::size_t rank = e.rank(slice);
    for (std::size_t a = 0; a < rank; ++a)
      if (!e.g.is_index_const(e.g.src(slice, 1 + a), 0) || nth(e.g.args(slice), a) != 1) return false;
    const auto own = e.shape(slice);
    return own == e.shape(e.g.data(slice));
  };
  while (e.g.op(x) == Op::RESHAPE || (e.g.op(x) == Op::SLICE && takes_all(x))) x = e.g.data(x);
  return !is_movement(e.g.op(x));
}

// The first of two neighbouring summed axes that are neighbouring axes of both factors too, in tensors in row-major order; -1:
// there are none.
int axis_to_join(Emit& e, const Product& p) {
  if (!is_in_order(e, p.p.base) || !is_in_order(e, p.q.base)) return -1;
  for (int a = 0; a + 1 < static_cast<int>(p.space.size()); ++a) {
    const auto follows = [&](const Factor& f) { return nth(f.axis, a) >= 0 && nth(f.axis, a + 1) == nth(f.axis, a) + 1; };
    if (is_summed(p, a) && is_summed(p, a + 1) && follows(p.p) && follows(p.q)) return a;
  }
  return -1;
}

// The same sums, with one axis in place of summed axes that follow each other in memory, as the rows and columns of planes
// without windows. The contraction is then a product of matrices.
Product with_joined_sums(Emit& e, const Product& given) {
  Product p = given;
  keep_listed_axes(e, p.p);
  keep_listed_axes(e, p.q);
  for (int a = axis_to_join(e, p); a >= 0; a = axis_to_join(e, p)) {
    const Id all = index_mul(e.g, nth(p.space, a), nth(p.space, a + 1));
    for (Factor* f : {&p.p, &p.q}) {
      const int at = nth(f->axis, a);
      Extents to = e.shape(f->base);
      nth(to, at) = all;
      to.erase(to.begin() + at + 1);
      f->base = e.reshape(f->base, to);
      f->axis.erase(f->axis.begin() + a + 1);
      for (int& axis : f->axis) axis -= axis > at ? 1 : 0;
    }
    nth(p.space, a) = all;
    p.space.erase(p.space.begin() + a + 1);
    for (int& v : p.value) v -= v > a ? 1 : 0;
  }
  return p;
}

// Whether a copy of q, if the last axes of the result are q's own, costs less than copies of p and of the result. As in the
// derivative by the filters of a convolution with windows of one element, or over small planes.
bool copies_other(const Emit& e, const Product& p) {
  std::vector<int> summed, own_p, own_q, kept;
  std::ranges::copy_if(p.value, std::back_inserter(kept), [](int v) { return v != Product::unit; });
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    if (is_summed(p, a)) summed.push_back(a);
    if (!is_summed(p, a) && is_own(p.p, p.q, a)) own_p.push_back(a);
    if (!is_summed(p, a) && is_own(p.q, p.p, a)) own_q.push_back(a);
  }
  if (!std::ranges::is_partitioned(kept, [&](int a) { return !is_own(p.q, p.p, a); })) return false;
  if (kept.empty() || !is_own(p.q, p.p, kept.back())) return false;
  const bool windows = has_windows(e, p.q.base);
  if (!windows && is_short(e, p, kept.back())) return false;
  const auto places = elements_of(e, p, summed), rows = elements_of(e, p, own_p), columns = elements_of(e, p, own_q);
  if (!places || !rows || !columns) return !windows;
  const double of_other = static_cast<double>(*places) * static_cast<double>(*columns) * (windows ? cost_of_windows : 1);
  return of_other <= static_cast<double>(*rows) * static_cast<double>(*places + *columns);
}

// The axes of the result keep their order, and q's own ones become the last ones of a copy of q.
Product with_copy_of_other(Emit& e, const Product& p) {
  std::vector<int> order, own, summed;
  for (const int v : p.value)
    if (v != Product::unit) (is_own(p.q, p.p, v) ? own : order).push_back(v);
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    if (is_summed(p, a)) order.push_back(a);
  order.insert(order.end(), own.begin(), own.end());
  Product out = reordered(p, order);
  put_in_order(e, out.q);
  out.q.base = e.b.stage(out.q.base);
  return out;
}

// The axes of the result that only p has become the last ones of the space.
Product with_own_last(const Product& p) {
  std::vector<int> order, own;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    (!is_summed(p, a) && is_own(p.p, p.q, a) ? own : order).push_back(a);
  order.insert(order.end(), own.begin(), own.end());
  return reordered(p, order);
}

// How often the products of the result pass over all of p: the elements of q's own axes. An unknown extent counts as many.
std::int64_t passes_over(const Emit& e, const Product& p) {
  std::vector<int> own_q;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    if (!is_summed(p, a) && is_own(p.q, p.p, a)) own_q.push_back(a);
  return elements_of(e, p, own_q).value_or(passes_for_panels);
}

// The product with p's own axis of the result in panels: outer * panel + inner. The outer part becomes the first axis of the
// space. Rows of a large copy would be far apart in memory, perhaps in the same few sets of a cache.
Product in_panels(Emit& e, const Product& given, int own) {
  const std::int64_t panel = bytes_of_panel / bytes(e.g.dtype(given.p.base));
  const std::optional<std::int64_t> n = index_value(e.g, nth(given.space, own));
  if (!n || *n % panel != 0 || *n < smallest_in_panels * panel || passes_over(e, given) < passes_for_panels) return given;
  Extents to;
  for (const int v : given.value) {
    if (v == own) to.push_back(e.g.index(*n / panel));
    to.push_back(v == own ? e.g.index(panel) : v == Product::unit ? e.g.index(1) : nth(given.space, v));
  }
  Product p = given;
  const auto outer = static_cast<std::size_t>(std::ranges::find(given.value, own) - given.value.begin());
  if (!reshape(e, p, to)) return given;
  std::vector<int> order = {p.value[outer]};
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
    if (a != order[0]) order.push_back(a);
  return reordered(p, order);
}

// The axes of the result that only p has become the last ones of the space and of a copy of p, or if it is one long axis,
// panels of it.
Product with_neighbours(Emit& e, const Product& given) {
  std::vector<int> order, inner;
  const auto own_axes = [&](const Product& p) {
    order.clear(), inner.clear();
    for (int a = 0; a < static_cast<int>(p.space.size()); ++a)
      (!is_summed(p, a) && is_own(p.p, p.q, a) ? inner : order).push_back(a);
  };
  own_axes(given);
  const Product p = inner.size() == 1 ? in_panels(e, given, inner[0]) : given;
  own_axes(p);
  if (p.space.size() > given.space.size()) order.insert(order.begin(), 0), inner.erase(inner.begin());
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

}  // namespace

LaidOut laid_out(Emit& e, const Product& given) {
  if (const Product joined = with_joined_sums(e, given); joined.space.size() < given.space.size()) {
    if (walks_along_both(e, joined)) return laid_out(e, joined);
    return copies_other(e, joined) ? LaidOut{joined, false} : LaidOut{with_own_last(joined), true};
  }
  if (walks_along_both(e, given) && copies_other(e, given)) return {with_copy_of_other(e, given), false};
  if (walks_along_both(e, given)) return {with_neighbours(e, given), true};
  if (ends_in_short_axis(e, given)) return {with_short_axes_first(e, given), true};
  return {given, false};
}

}  // namespace kiln::compiler::autodiff
