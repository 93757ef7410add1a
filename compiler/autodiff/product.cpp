#include "compiler/autodiff/product.h"

#include <algorithm>
#include <numeric>

#include "compiler/autodiff/factor.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

// The same factor without the EXPANDs, PERMUTEs and simple RESHAPEs that its base begins with. The factor's map of axes takes
// their place.
Factor peeled(Emit& e, Factor f) {
  while (!e.origins.contains(f.base)) {
    const Op op = e.g.op(f.base);
    if (op == Op::EXPAND) {
      const Id source = e.g.data(f.base);
      const Extents from = e.shape(source);
      std::vector<int> to(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = e.is_one(from[i]) ? -1 : static_cast<int>(i);
      follow(f, to);
      f.base = source;
    } else if (op == Op::PERMUTE) {
      std::vector<int> to;
      for (const std::int64_t a : e.g.args(f.base)) to.push_back(static_cast<int>(a));
      follow(f, to);
      f.base = e.g.data(f.base);
    } else if (op != Op::RESHAPE || !peel_reshape(e, f)) {
      break;
    }
  }
  return f;
}

// Changes an axis of the space in each factor that has it; the first factor gets it if none has.
template <class Change>
void change_axis(Emit& e, Product& p, int axis, Id extent, Change&& change) {
  if (nth(p.p.axis, axis) < 0 && nth(p.q.axis, axis) < 0) give_axis(e, p.p, axis, nth(p.space, axis));
  for (Factor* f : {&p.p, &p.q})
    if (nth(f->axis, axis) >= 0) f->base = change(*f, static_cast<std::size_t>(nth(f->axis, axis)));
  nth(p.space, axis) = extent;
}

}  // namespace

Product product_of(Emit& e, Id adjoint, Id other, std::span<const std::int64_t> axes) {
  Product p;
  p.space = e.shape(other);
  p.p.base = adjoint;
  p.q.base = other;
  int kept = 0;
  for (int i = 0; i < static_cast<int>(p.space.size()); ++i) {
    p.value.push_back(i);
    p.q.axis.push_back(i);
    p.p.axis.push_back(std::ranges::find(axes, i) == axes.end() ? kept++ : -1);
  }
  p.p = peeled(e, p.p);
  p.q = peeled(e, p.q);
  return p;
}

void permute(Product& p, std::span<const std::int64_t> axes) {
  std::vector<int> value;
  for (const std::int64_t a : axes) value.push_back(nth(p.value, a));
  p.value = value;
  for (Split& s : p.splits)
    s.axis = static_cast<std::size_t>(std::ranges::find(axes, static_cast<std::int64_t>(s.axis)) - axes.begin());
}

void sum_to_unit(Product& p, std::size_t axis) { p.value[axis] = Product::unit; }

bool slice(Emit& e, Product& p, std::size_t axis, Id begin, std::int64_t step, Id extent) {
  const auto split = std::ranges::find(p.splits, axis, &Split::axis);
  if (split != p.splits.end()) {
    const std::optional<std::int64_t> before = index_value(e.g, begin);
    if (!before || step != 1) return false;
    split->begin += *before;
    split->n = extent;
    return true;
  }
  const int v = p.value[axis];
  if (v == Product::unit) return e.is_one(extent) && e.g.is_index_const(begin, 0);
  if (nth(p.p.axis, v) < 0 && nth(p.q.axis, v) < 0) {
    nth(p.space, v) = extent;
    return true;
  }
  change_axis(e, p, v, extent, [&](const Factor& f, std::size_t a) { return e.slice_axis(f.base, a, begin, step, extent); });
  return true;
}

bool unslice(Emit& e, Product& p, std::size_t axis, Id begin, std::int64_t step, Id n) {
  const int v = p.value[axis];
  if (v == Product::unit) return e.is_one(n);
  change_axis(e, p, v, n, [&](const Factor& f, std::size_t a) { return e.unslice_axis(f.base, a, begin, step, n); });
  return true;
}

bool shear(Emit& e, Product& p, Op op, std::span<const std::int64_t> args, Id extent) {
  const int k = nth(p.value, args[0]), o = nth(p.value, args[1]);
  if (k == Product::unit || o == Product::unit) return false;
  // A factor that differs along axis o is sheared. The other factor is the same for every o.
  if (nth(p.p.axis, o) < 0 && nth(p.q.axis, o) < 0) give_axis(e, p.p, o, nth(p.space, o));
  for (Factor* f : {&p.p, &p.q})
    if (nth(f->axis, o) >= 0) give_axis(e, *f, k, nth(p.space, k));
  const auto make = op == Op::SHEAR ? &Builder::shear : &Builder::unshear;
  change_axis(e, p, o, extent, [&](const Factor& f, std::size_t at) {
    return (e.b.*make)(f.base, nth(f.axis, k), static_cast<std::int64_t>(at), args[2], args[3], extent);
  });
  return true;
}

namespace {

// Gives the factor an axis of parts: its taps k become (k', r) with k = stride * k' + r, in reverse order of k'.
void split_taps(Emit& e, Factor& f, int k, std::int64_t stride, Id taps_of_part) {
  const int at = nth(f.axis, k);
  if (at < 0) {
    f.axis.push_back(-1);
    return;
  }
  const auto axis = static_cast<std::size_t>(at);
  const Id s = e.g.index(stride), all = index_mul(e.g, taps_of_part, s), zero = e.g.index(0);
  Extents to = e.shape(f.base);
  const Id padded = e.pad_axis(f.base, axis, zero, all);
  to[axis] = taps_of_part;
  to.insert(to.begin() + at + 1, s);
  const Id last = index_sub(e.g, taps_of_part, e.g.index(1));
  f.base = e.slice_axis(e.reshape(padded, to), axis, last, -1, taps_of_part);
  for (int& a : f.axis) a += a > at ? 1 : 0;
  f.axis.push_back(at + 1);
}

// sum_windows with a stride, without a dilation. An element h = stride * h' + r belongs to the windows h' - k'.
void sum_split_windows(Emit& e, Product& p, std::size_t axis, std::int64_t stride, std::int64_t taps, Id n) {
  const int k = p.value[axis], o = p.value[axis + 1];
  const Id one = e.g.index(1), s = e.g.index(stride);
  const Id taps_of_part = e.g.index((taps + stride - 1) / stride), border = index_sub(e.g, taps_of_part, one);
  // One place more than elements need, because a slice shifts the parts against each other.
  const Id places = index_add(e.g, index_floordiv(e.g, index_add(e.g, n, e.g.index(stride - 1)), s), one);
  const Id padded = index_add(e.g, places, border);
  for (Factor* f : {&p.p, &p.q}) {
    split_taps(e, *f, k, stride, taps_of_part);
    if (nth(f->axis, o) < 0) continue;
    f->base = e.pad_axis(f->base, static_cast<std::size_t>(nth(f->axis, o)), border, padded);
    give_axis(e, *f, k, taps_of_part);
    f->base = e.b.shear(f->base, nth(f->axis, k), nth(f->axis, o), 1, 1, places);
  }
  nth(p.space, k) = taps_of_part;
  nth(p.space, o) = places;
  p.space.push_back(s);
  for (Split& other : p.splits) other.axis -= other.axis > axis ? 1 : 0;
  p.splits.push_back({axis, static_cast<int>(p.space.size()) - 1, k, stride, taps, 0, n});
  p.value.erase(p.value.begin() + static_cast<std::ptrdiff_t>(axis));
}

}  // namespace

bool sum_windows(Emit& e, Product& p, std::size_t axis, std::int64_t stride, std::int64_t dilation, Id n) {
  const int k = p.value[axis], o = p.value[axis + 1];
  if (k == Product::unit || o == Product::unit) return false;
  if (nth(p.p.axis, o) < 0 && nth(p.q.axis, o) < 0) give_axis(e, p.p, o, nth(p.space, o));
  if (const auto fixed = index_value(e.g, nth(p.space, k)); fixed && stride > 1 && dilation == 1) {
    sum_split_windows(e, p, axis, stride, *fixed, n);
    return true;
  }
  const Id taps = nth(p.space, k), one = e.g.index(1), last = index_sub(e.g, taps, one);
  const Id border = index_mul(e.g, last, e.g.index(dilation));
  const Id padded = index_add(e.g, n, border), fit = index_sub(e.g, n, border);
  const Id places = index_max(e.g, fit, e.g.index(0));  // there may be no window
  for (Factor* f : {&p.p, &p.q}) {
    if (nth(f->axis, k) >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(nth(f->axis, k)), last, -1, taps);
    if (nth(f->axis, o) < 0) continue;
    const auto at = static_cast<std::size_t>(nth(f->axis, o));
    if (stride > 1) f->base = e.b.stage(e.unslice_axis(f->base, at, e.g.index(0), stride, places));
    f->base = e.pad_axis(f->base, at, border, padded);
    give_axis(e, *f, k, taps);
    f->base = e.b.shear(f->base, nth(f->axis, k), nth(f->axis, o), 1, dilation, n);
  }
  nth(p.space, o) = n;
  for (Split& other : p.splits) other.axis -= other.axis > axis ? 1 : 0;
  p.value.erase(p.value.begin() + static_cast<std::ptrdiff_t>(axis));
  return true;
}

namespace {

// Replaces axes of the space by others with as many elements. The new axes take the place of the first one.
void reshape_group(Emit& e, Product& p, const std::vector<int>& group, const Extents& to) {
  const auto in_group = [&](int a) { return std::ranges::find(group, a) != group.end(); };
  for (Factor* f : {&p.p, &p.q}) {
    const bool has = std::ranges::any_of(group, [&](int a) { return nth(f->axis, a) >= 0; });
    std::vector<int> axis;
    Extents shape;
    Axes order;
    if (has) {
      for (const int a : group) give_axis(e, *f, a, nth(p.space, a));
      put_in_order(e, *f);
    }
    for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
      if (a == group[0]) {
        for (const Id extent : to) {
          axis.push_back(has ? static_cast<int>(shape.size()) : -1);
          if (has) shape.push_back(extent);
        }
        if (has)
          for (const int member : group) order.push_back(nth(f->axis, member));
      }
      if (in_group(a)) continue;
      const bool there = nth(f->axis, a) >= 0;
      axis.push_back(!has ? nth(f->axis, a) : there ? static_cast<int>(shape.size()) : -1);
      if (!has || !there) continue;
      shape.push_back(nth(p.space, a));
      order.push_back(nth(f->axis, a));
    }
    if (has) f->base = e.reshape(e.permute(f->base, order), shape);
    f->axis = axis;
  }
  Extents space;
  std::vector<int> moved(p.space.size(), Product::unit);
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    if (a == group[0]) space.insert(space.end(), to.begin(), to.end());
    if (in_group(a)) continue;
    nth(moved, a) = static_cast<int>(space.size());
    space.push_back(nth(p.space, a));
  }
  for (int& v : p.value)
    if (v >= 0 && !in_group(v)) v = nth(moved, v);
  p.space = space;
}

// The value with each maximal group that a reshape really splits or joins, as axes of the space and new extents.
struct Group {
  std::size_t begin, end;  // axes of the value
  Extents to;
};

// Whether some of these axes belong to p only, and others to q only. If they became one axis, both factors would need all of
// it.
bool joins_both(const Product& p, const std::vector<int>& axes) {
  const auto only = [&](const Factor& f, const Factor& other) {
    return std::ranges::any_of(axes, [&](int a) { return nth(f.axis, a) >= 0 && nth(other.axis, a) < 0; });
  };
  return only(p.p, p.q) && only(p.q, p.p);
}

}  // namespace

bool reshape(Emit& e, Product& p, const Extents& to) {
  Extents from;
  for (const int v : p.value) from.push_back(v == Product::unit ? e.g.index(1) : nth(p.space, v));
  Product made = p;
  std::vector<int> value;
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      value.push_back(made.value[i]);
      ++i, ++j;
    } else if (i < from.size() && e.is_one(from[i])) {
      ++i;  // summed over its only element
    } else if (j < to.size() && e.is_one(to[j])) {
      value.push_back(Product::unit);
      ++j;
    } else {
      if (i == from.size() || j == to.size()) return false;
      std::vector<int> group;
      const std::size_t first = j;
      Id have = from[i], want = to[j];
      if (made.value[i] != Product::unit) group.push_back(made.value[i]);
      std::size_t next = i + 1;
      ++j;
      while (have != want) {  // the side with fewer elements so far takes an axis
        const auto a = index_value(e.g, have), b = index_value(e.g, want);
        const bool take_left = a && b ? *a < *b : to.size() - j <= from.size() - next;
        if (take_left ? next == from.size() : j == to.size()) return false;
        if (take_left) {
          if (made.value[next] != Product::unit) group.push_back(made.value[next]);
          have = index_mul(e.g, have, from[next++]);
        } else {
          want = index_mul(e.g, want, to[j++]);
        }
      }
      if (group.empty() || joins_both(made, group)) return false;
      const Extents parts(to.begin() + static_cast<std::ptrdiff_t>(first), to.begin() + static_cast<std::ptrdiff_t>(j));
      // reshape_group changes the numbers of the axes of the space. It renumbers `made.value`, so all axes go through it.
      std::vector<int> rest(made.value.begin() + static_cast<std::ptrdiff_t>(next), made.value.end());
      const std::size_t listed = value.size();
      value.insert(value.end(), rest.begin(), rest.end());
      made.value = value;
      int at = group[0];
      for (const int a : group) at -= a < group[0] ? 1 : 0;
      reshape_group(e, made, group, parts);
      value.assign(made.value.begin(), made.value.begin() + static_cast<std::ptrdiff_t>(listed));
      for (std::size_t n = 0; n < parts.size(); ++n) value.push_back(at + static_cast<int>(n));
      rest.assign(made.value.begin() + static_cast<std::ptrdiff_t>(listed), made.value.end());
      made.value.assign(next, Product::unit);
      made.value.insert(made.value.end(), rest.begin(), rest.end());
      i = next;
    }
  }
  made.value = value;
  p = made;
  return true;
}

}  // namespace kiln::compiler::autodiff
