#include "compiler/autodiff/emit.h"

#include <cstdio>
#include <numeric>

#include "compiler/ir/literal.h"

namespace kiln::compiler::autodiff {

Id Emit::number(DType d, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return g.constant(d, literal_bits(d, text).value());
}

Id Emit::zeros(DType d, const Extents& to) { return b.broadcast_to(number(d, 0), to); }

std::optional<double> Emit::constant_of(Id x) const {
  while (g.op(x) == Op::RESHAPE || g.op(x) == Op::EXPAND || g.op(x) == Op::PERMUTE ||
         (g.op(x) == Op::CAST && is_float(g.dtype(g.src(x, 0))) && bits(g.dtype(g.src(x, 0))) <= bits(g.dtype(x))))
    x = g.src(x, 0);
  if (!g.is_const(x) || !is_float(g.dtype(x))) return std::nullopt;
  return float_value(g.dtype(x), static_cast<std::uint64_t>(g.value(x)));
}

Id Emit::times(Id t, Id d) {
  if (constant_of(t) != 1.0) return mul(t, d);
  const Extents to = shape(t);
  return rank(d) <= to.size() ? b.broadcast_to(d, to) : d;
}

Id Emit::sum(std::span<const Id> terms) {
  if (terms.size() == 1) return terms[0];
  const DType d = g.dtype(terms[0]);
  const auto wide = [&](Id x) { return is_half(d) ? b.cast(x, DType::f32) : x; };
  Id total = wide(terms[0]);
  for (const Id term : terms.subspan(1)) {
    const Id next = wide(term);
    total = add(total, next);
  }
  return is_half(d) ? b.cast(total, d) : total;
}

Id Emit::sum_all(Id x) {
  Axes axes(rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  return sum_over(x, axes);
}

Id Emit::reshape(Id x, const Extents& to) { return shape(x) == to ? x : b.reshape(x, to); }

Id Emit::permute(Id x, const Axes& axes) { return std::ranges::is_sorted(axes) ? x : b.permute(x, axes); }

Id Emit::slice_axis(Id x, std::size_t axis, Id begin, std::int64_t step, Id extent) {
  Extents to = shape(x), from(to.size(), g.index(0));
  if (step == 1 && g.is_index_const(begin, 0) && to[axis] == extent) return x;
  Axes steps(to.size(), 1);
  from[axis] = begin;
  steps[axis] = step;
  to[axis] = extent;
  return b.slice(x, from, steps, to);
}

Id Emit::pad_axis(Id x, std::size_t axis, Id before, Id extent) {
  Extents to = shape(x), widths(to.size(), g.index(0));
  if (g.is_index_const(before, 0) && to[axis] == extent) return x;
  widths[axis] = before;
  to[axis] = extent;
  return b.pad(x, number(g.dtype(x), 0), PadMode::constant, widths, to);
}

Id Emit::unslice_axis(Id x, std::size_t axis, Id begin, std::int64_t step, Id n) {
  const Id m = shape(x)[axis];
  if (g.is_index_const(m, 0)) {
    Extents to = shape(x);
    to[axis] = n;
    return zeros(g.dtype(x), to);
  }
  if (step < 0) {  // read from the other end
    const Id last = index_sub(g, m, g.index(1));
    x = slice_axis(x, axis, last, -1, m);
    begin = index_add(g, begin, index_mul(g, last, g.index(step)));
    step = -step;
  }
  if (step == 1) return pad_axis(x, axis, begin, n);
  Extents split = shape(x), joined = split;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis), g.index(1));
  const auto k = static_cast<std::int64_t>(axis);
  joined[axis] = index_sub(g, n, begin);
  const Id spread = b.unshear(reshape(x, split), k, k + 1, step, 1, joined[axis]);
  return pad_axis(reshape(spread, joined), axis, begin, n);
}

Id Emit::sum_axis(Id x, std::size_t axis) {
  Extents to = shape(x);
  to[axis] = g.index(1);
  return reshape(sum_over(x, {static_cast<std::int64_t>(axis)}), to);
}

Id Emit::repeat_axis(Id x, std::size_t axis, Id n) {
  Extents to = shape(x);
  if (to[axis] == n) return x;
  to[axis] = n;
  return b.expand(x, to);
}

Id Emit::iota_along(std::size_t axis, std::size_t rank, Id extent) {
  Extents to(rank, g.index(1));
  to[axis] = extent;
  return reshape(b.iota(DType::i64, extent), to);
}

}  // namespace kiln::compiler::autodiff
