#include "compiler/autodiff/transpose.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "compiler/autodiff/scans.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// The longest axis whose products are written out.
constexpr std::int64_t most_terms = 16;

class Transpose {
 public:
  Transpose(Rules& rules, Id derivative, Id node, const Edge& edge)
      : rules_(rules), e_(rules.e), g_(rules.e.g), derivative_(derivative), node_(node), place_(edge.place), x_(edge.from) {}

  Adjoint of(const Adjoint& adjoint) {
    if (std::holds_alternative<Product>(adjoint))
      if (auto moved = lazily(std::get<Product>(adjoint))) return *moved;
    Id y = value_of(e_, adjoint);
    if (std::holds_alternative<Product>(adjoint) && leaves_gaps()) y = e_.b.stage(y);  // not computed for the gaps too
    if (place_ == Edge::of_windows) return windows(y);
    switch (g_.op(node_)) {
      case Op::RESHAPE: return e_.reshape(y, e_.shape(x_));
      case Op::EXPAND: return summed(y);
      case Op::PERMUTE: return e_.permute(y, inverse());
      case Op::SLICE: return unsliced(y);
      case Op::PAD: return place_ == 1 ? outside(y) : unpadded(y);
      case Op::CONCAT: return part(y);
      case Op::SHEAR: return sheared(Op::UNSHEAR, y);
      case Op::UNSHEAR: return sheared(Op::SHEAR, y);
      case Op::STAGE:
      case Op::MARK:
      case Op::STRAIGHT: return y;
      case Op::SCAN: return scan_adjoint(rules_, derivative_, node_, y);
      case Op::REDUCE: return reduced(y);
      case Op::GATHER: return rules_.scatter({y, g_.sources(node_, 1)}, x_);
      case Op::GET: return gathered(y);
      case Op::INDEX: return element(y);
      case Op::UPDATE: return updated(y);
      default: refuse();
    }
  }

 private:
  // The movement in the factors of a product; nullopt: the product is made first.
  std::optional<Adjoint> lazily(Product p) {
    const Op op = place_ == Edge::of_windows ? Op::UNSHEAR : g_.op(node_);
    const bool keeps = op == Op::STAGE || op == Op::MARK || op == Op::STRAIGHT || op == Op::PERMUTE || op == Op::PAD;
    if (!p.splits.empty() && !keeps && place_ != Edge::of_windows) return std::nullopt;
    switch (op) {
      case Op::STAGE:
      case Op::MARK:
      case Op::STRAIGHT: return p;
      case Op::RESHAPE:
        if (!reshape(e_, p, e_.shape(x_))) return std::nullopt;
        return p;
      case Op::PERMUTE: permute(p, inverse()); return p;
      case Op::EXPAND: {
        const Extents from = e_.shape(x_), to = e_.shape(node_);
        for (std::size_t a = 0; a < from.size(); ++a)
          if (from[a] != to[a]) sum_to_unit(p, a);
        return p;
      }
      case Op::SLICE: {
        const Extents from = e_.shape(x_), to = e_.shape(node_);
        for (std::size_t a = 0; a < from.size(); ++a) {
          if (whole_axis(a, from, to)) continue;
          if (g_.arg(node_, a) != 1 || !unslice(e_, p, a, g_.src(node_, 1 + a), g_.arg(node_, a), from[a])) return std::nullopt;
        }
        return p;
      }
      case Op::PAD: {
        if (place_ == 1 || g_.pad_mode(node_) != PadMode::constant) return std::nullopt;
        const Extents from = e_.shape(x_), to = e_.shape(node_);
        for (std::size_t a = 0; a < from.size(); ++a) {
          const Id before = g_.src(node_, 2 + a);
          if (from[a] == to[a] && g_.is_index_const(before, 0)) continue;
          if (!slice(e_, p, a, before, 1, from[a])) return std::nullopt;
        }
        return p;
      }
      case Op::SHEAR:
      case Op::UNSHEAR: {
        if (place_ == Edge::of_windows) return lazy_windows(p);
        const Op back = g_.op(node_) == Op::SHEAR ? Op::UNSHEAR : Op::SHEAR;
        const Axes args(g_.args(node_).begin(), g_.args(node_).end());
        const Extents from = e_.shape(x_);
        if (!shear(e_, p, back, args, nth(from, args[1]))) return std::nullopt;
        return p;
      }
      default: return std::nullopt;
    }
  }

  // Whether the node reads elements with a step, so that its transpose has zeros between them.
  bool leaves_gaps() const {
    if (place_ == Edge::of_windows) return rules_.windows(node_).value().stride > 1;
    return g_.op(node_) == Op::SLICE && std::ranges::any_of(g_.args(node_), [](std::int64_t step) { return step != 1; });
  }

  std::optional<Adjoint> lazy_windows(Product p) {
    const Windows w = rules_.windows(node_).value();
    const Extents from = e_.shape(w.source);
    if (!sum_windows(e_, p, w.axis, w.stride, w.dilation, from[w.axis])) return std::nullopt;
    return p;
  }

  Id windows(Id y) {
    const Windows w = rules_.windows(node_).value();
    const Extents from = e_.shape(w.source);
    const auto k = static_cast<std::int64_t>(w.axis);
    const std::optional<std::int64_t> taps = index_value(g_, e_.shape(y)[w.axis]);
    if (w.stride > 1 && w.dilation == 1 && taps) return split_windows(y, k, *taps, w.stride, from[w.axis]);
    const Id placed = e_.b.unshear(y, k, k + 1, w.stride, w.dilation, from[w.axis]);
    return e_.sum_over(placed, {k});
  }

  // The same by parts: element h = stride * h' + r of n takes tap k = stride * k' + r of window h' - k'. So no index is divided
  // along the taps. If `stride` divides n, each r has a tensor of its own, and a loop over h' has code for each r. Else one
  // tensor holds them all: its last elements are not needed, so a loop over n would have to leave them out.
  Id split_windows(Id y, std::int64_t k, std::int64_t taps, std::int64_t stride, Id n) {
    const Id s = g_.index(stride);
    const Id count = index_floordiv(g_, index_add(g_, n, g_.index(stride - 1)), s);
    const std::optional<std::int64_t> size = index_value(g_, n);
    const bool is_whole = size && *size % stride == 0;
    const Id sums = is_whole ? parts_apart(y, k, taps, stride, count) : parts_together(y, k, taps, stride, count);
    Extents to = e_.shape(sums);  // [.., h', r, ..]
    const auto axis = static_cast<std::size_t>(k);
    to[axis] = index_mul(g_, count, s);
    to.erase(to.begin() + k + 1);
    const Id whole = e_.reshape(sums, to), zero = g_.index(0);
    return e_.slice_axis(whole, axis, zero, 1, n);
  }

  Id parts_apart(Id y, std::int64_t k, std::int64_t taps, std::int64_t stride, Id count) {
    const auto axis = static_cast<std::size_t>(k);
    Extents to = e_.shape(y);
    to[axis] = count;
    to[axis + 1] = g_.index(1);
    std::vector<Id> parts;
    for (std::int64_t r = 0; r < stride; ++r) {
      if (r >= taps) {
        parts.push_back(e_.zeros(g_.dtype(y), to));
        continue;
      }
      const Id first = g_.index(r), of_part = g_.index((taps - r + stride - 1) / stride);
      const Id own = e_.slice_axis(y, axis, first, stride, of_part);
      parts.push_back(e_.reshape(e_.sum_over(e_.b.unshear(own, k, k + 1, 1, 1, count), {k}), to));
    }
    return e_.b.concat(parts, k + 1);
  }

  // A tap that the last parts lack is 0. It is read in place of the last tap, so that all reads are inside.
  Id parts_together(Id y, std::int64_t k, std::int64_t taps, std::int64_t stride, Id count) {
    const auto axis = static_cast<std::size_t>(k);
    const std::int64_t most = (taps + stride - 1) / stride;  // taps of an element
    const Id zero = g_.index(0), all = g_.index(most * stride);
    Extents to = e_.shape(y);
    to[axis] = all;
    if (most * stride != taps) {
      const Id repeated = e_.b.pad(y, e_.number(g_.dtype(y), 0), PadMode::edge, Extents(to.size(), zero), to);
      const Id tap = e_.iota_along(axis, to.size(), all), last = e_.number(DType::i64, static_cast<double>(taps));
      y = e_.masked(e_.b.expand(e_.less(tap, last), to), repeated);
    }
    to[axis] = g_.index(most);
    to.insert(to.begin() + k + 1, g_.index(stride));
    Axes order(to.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[axis + 1], order[axis + 2]);  // k', o, r
    const Id placed = e_.b.unshear(e_.permute(e_.reshape(y, to), order), k, k + 1, 1, 1, count);
    return e_.sum_over(placed, {k});
  }

  bool whole_axis(std::size_t a, const Extents& from, const Extents& to) const {
    return from[a] == to[a] && g_.arg(node_, a) == 1 && g_.is_index_const(g_.src(node_, 1 + a), 0);
  }

  Axes inverse() const {
    const auto axes = g_.args(node_);
    Axes out(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) nth(out, axes[i]) = static_cast<std::int64_t>(i);
    return out;
  }

  Id summed(Id y) {
    const Extents from = e_.shape(x_), to = e_.shape(node_);
    Axes grown;
    for (std::size_t a = 0; a < from.size(); ++a)
      if (from[a] != to[a]) grown.push_back(static_cast<std::int64_t>(a));
    return e_.reshape(e_.sum_over(y, grown), from);
  }

  Id unsliced(Id y) {
    const Extents from = e_.shape(x_), to = e_.shape(node_);
    for (std::size_t a = 0; a < from.size(); ++a)
      if (!whole_axis(a, from, to)) y = e_.unslice_axis(y, a, g_.src(node_, 1 + a), g_.arg(node_, a), from[a]);
    return y;
  }

  Id sheared(Op back, Id y) {
    const Axes args(g_.args(node_).begin(), g_.args(node_).end());
    const Extents from = e_.shape(x_);
    const auto make = back == Op::SHEAR ? &Builder::shear : &Builder::unshear;
    return (e_.b.*make)(y, args[0], args[1], args[2], args[3], nth(from, args[1]));
  }

  Id part(Id y) {
    const std::size_t axis = g_.slot(node_);
    Id begin = g_.index(0);
    for (std::size_t i = 0; i < place_; ++i) {
      const Extents before = e_.shape(g_.src(node_, i));
      begin = index_add(g_, begin, before[axis]);
    }
    const Extents own = e_.shape(x_);
    return e_.slice_axis(y, axis, begin, 1, own[axis]);
  }

  // The sum of the adjoint in the elements that the padding adds.
  Id outside(Id y) {
    const Extents inner = e_.shape(g_.data(node_)), all = e_.shape(node_);
    const Id yes = e_.b.constant(DType::boolean, 1), no = e_.b.constant(DType::boolean, 0);
    const Extents before = g_.sources(node_, 2);
    const Extents widths(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(all.size()));
    const Id there = e_.b.broadcast_to(yes, inner);
    const Id inside = e_.b.pad(there, no, PadMode::constant, widths, all);
    return e_.sum_all(e_.where(inside, e_.number(g_.dtype(y), 0), y));
  }

  // Adds the border of each axis to the elements that it repeats: what comes before, the middle, what comes after.
  Id unpadded(Id y) {
    const PadMode mode = g_.pad_mode(node_);
    const Extents from = e_.shape(x_), to = e_.shape(node_);
    const DType d = g_.dtype(y);
    if (is_half(d) && mode != PadMode::constant) y = e_.b.cast(y, DType::f32);
    for (std::size_t a = 0; a < from.size(); ++a) {
      const Id before = g_.src(node_, 2 + a), n = from[a];
      const Id end = index_add(g_, before, n), after = index_sub(g_, to[a], end);
      const Id middle = e_.slice_axis(y, a, before, 1, n);
      Id total = middle;
      if (mode != PadMode::constant && !g_.is_index_const(before, 0))
        total = e_.add(border(mode, e_.slice_axis(y, a, g_.index(0), 1, before), a, n, before, true), middle);
      if (mode != PadMode::constant && !g_.is_index_const(after, 0)) {
        const Id behind = e_.slice_axis(y, a, end, 1, after);
        total = e_.add(total, border(mode, behind, a, n, after, false));
      }
      y = total;
    }
    return g_.dtype(y) == d ? y : e_.b.cast(y, d);
  }

  // The border of `width` elements, in the places of the axis of extent n that it repeats.
  Id border(PadMode mode, Id x, std::size_t axis, Id n, Id width, bool is_before) {
    const Id zero = g_.index(0), one = g_.index(1);
    const Id rest = index_sub(g_, n, width), last = index_sub(g_, width, one);
    if (mode == PadMode::wrap) return e_.pad_axis(x, axis, is_before ? rest : zero, n);
    if (mode == PadMode::edge) {
      const Id total = e_.sum_axis(x, axis);
      return e_.pad_axis(total, axis, is_before ? zero : index_sub(g_, n, one), n);
    }
    const Id flipped = e_.slice_axis(x, axis, last, -1, width);
    return e_.pad_axis(flipped, axis, is_before ? one : index_sub(g_, rest, one), n);
  }

  // The adjoint of the result, repeated along the axes of the reduction.
  Id repeated(Id y, std::span<const std::int64_t> axes, const Extents& to) {
    Extents ones = to;
    for (const std::int64_t a : axes) nth(ones, a) = g_.index(1);
    const Id x = e_.reshape(y, ones);
    return ones == to ? x : e_.b.expand(x, to);
  }

  Adjoint reduced(Id y) {
    const ReduceKind kind = g_.reduce_kind(node_);
    const Axes axes(g_.args(node_).begin() + 1, g_.args(node_).end());
    if (operands_of(kind) == 2) return product_of(e_, y, g_.src(node_, 1 - place_), axes);
    if (kind == ReduceKind::sum) return repeated(y, axes, e_.shape(x_));
    if (kind != ReduceKind::prod) {
      const Id taken = is_extreme(e_, node_, x_), all = repeated(y, axes, e_.shape(x_));
      return e_.masked(taken, all);
    }
    std::vector<Id> values{x_};  // before the reduction of each axis, from the last one
    for (std::size_t i = axes.size(); i-- > 1;) values.push_back(e_.b.reduce(kind, values.back(), Axes{axes[i]}));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Id x = values[axes.size() - 1 - i];
      const std::int64_t axis[] = {axes[i]};
      const Id all = repeated(y, axis, e_.shape(x)), others = products_of_others(e_, x, static_cast<std::size_t>(axes[i]));
      y = e_.times(all, others);
    }
    return y;
  }

  Id gathered(Id y) {
    const auto s = rules_.scatters.find(node_);
    if (s == rules_.scatters.end()) refuse();
    const std::vector<Id> index = s->second.index;
    return e_.b.gather(y, index);
  }

  Id element(Id y) {
    const IndexGate gate = index_gate(g_, node_);
    std::vector<Id> index = g_.sources(node_, 1);
    if (!index.empty()) index[0] = gate.first;
    const Id c = is_at(e_, x_, index, gate.gate);
    if (c == no_id) return y;
    const Extents to = e_.shape(x_);
    return e_.b.broadcast_to(e_.masked(c, y), to);
  }

  Id updated(Id y) {
    const WriteParts w = write_parts(g_, node_);
    Id first = w.state;
    while (g_.op(first) == Op::UPDATE) first = write_parts(g_, first).state;
    if (g_.op(first) == Op::LOCAL) refuse();  // its adjoint would be an array too
    const std::vector<Id> index(w.index.begin(), w.index.end());
    const Id gate = w.gate;
    if (place_ == 2) return e_.masked(gate, e_.b.element(y, index, gate));
    const Id c = is_at(e_, x_, index, gate);
    return e_.where(c, e_.number(g_.dtype(y), 0), y);
  }

  [[noreturn]] void refuse() {
    const Op op = g_.op(node_);
    if (op == Op::BITCAST || is_int(g_.dtype(node_)))
      fail_derivative(g_, derivative_,
                      "expected a derivative, got bits of a float by " + rules_.at(node_) + "; write `stop_gradient`");
    if (op == Op::OLD || op == Op::ATOMIC)
      fail_derivative(g_, derivative_, "expected the result of an atomic to have no influence, got " + rules_.at(node_));
    fail_derivative(
        g_, derivative_,
        "expected no loop or kernel between the value and the x of its derivative, got " + rules_.at(node_) +
            "; give loops a constant number of turns, write tensor operations, use `jvp`, or give a custom derivative");
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id derivative_, node_;
  std::size_t place_;
  Id x_;
};

}  // namespace

Adjoint transposed(Rules& rules, Id derivative, Id node, const Edge& edge, const Adjoint& adjoint) {
  return Transpose(rules, derivative, node, edge).of(adjoint);
}

Id products_of_others(Emit& e, Id x, std::size_t axis) {
  Graph& g = e.g;
  const Extents shape = e.shape(x);
  const Id one = e.number(g.dtype(x), 1);
  const auto n = index_value(g, shape[axis]);
  if (n && *n >= 1 && *n <= most_terms) {
    std::vector<Id> parts, below, above(static_cast<std::size_t>(*n), no_id);
    for (std::int64_t i = 0; i < *n; ++i) {
      const Id at = g.index(i), single = g.index(1);
      parts.push_back(e.slice_axis(x, axis, at, 1, single));
    }
    below.push_back(no_id);  // the product of the elements before
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) below.push_back(i == 0 ? parts[0] : e.mul(below.back(), parts[i]));
    for (std::size_t i = parts.size() - 1; i-- > 0;)
      above[i] = i + 2 == parts.size() ? parts[i + 1] : e.mul(parts[i + 1], above[i + 1]);
    std::vector<Id> out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Id left = below[i], right = above[i];
      if (left == no_id && right == no_id)
        out.push_back(e.b.broadcast_to(one, e.shape(parts[i])));
      else
        out.push_back(left == no_id ? right : right == no_id ? left : e.mul(left, right));
    }
    return out.size() == 1 ? out[0] : e.b.concat(out, static_cast<std::int64_t>(axis));
  }
  const auto along = static_cast<std::int64_t>(axis);
  const Id before = e.b.scan(ReduceKind::prod, x, along, true), behind = e.b.scan(ReduceKind::prod, x, along, true, true);
  return e.mul(before, behind);
}

Id is_at(Emit& e, Id tensor, std::span<const Id> index, Id gate) {
  const Extents to = e.shape(tensor);
  Id all = gate;
  for (std::size_t a = 0; a < index.size(); ++a) {
    const Id place = e.iota_along(a, to.size(), to[a]), wanted = e.b.cast(index[a], DType::i64);
    const Id same = e.equal(place, wanted);
    all = all == no_id ? same : e.both(all, same);
  }
  return all;
}

Id is_extreme(Emit& e, Id node, Id x) {
  Graph& g = e.g;
  const Axes axes(g.args(node).begin() + 1, g.args(node).end());
  const Extents shape = e.shape(x);
  Extents kept = shape;
  Id count = g.index(1);
  for (const std::int64_t a : axes) {
    nth(kept, a) = g.index(1);
    count = index_mul(g, count, nth(shape, a));
  }
  const std::optional<std::int64_t> n = index_value(g, count);
  const DType d = n && *n <= std::numeric_limits<std::int32_t>::max() ? DType::i32 : DType::i64;  // narrow: more lanes
  const auto number = [&](std::int64_t v) { return g.constant(d, static_cast<std::uint64_t>(v)); };
  Id place = number(0);  // in row-major order of the reduced axes
  for (const std::int64_t a : axes) {
    const std::optional<std::int64_t> extent = index_value(g, nth(shape, a));
    const Id along = e.b.cast(e.iota_along(static_cast<std::size_t>(a), shape.size(), nth(shape, a)), d);
    const Id size = extent ? number(*extent) : e.b.cast(nth(shape, a), d);
    place = e.add(e.mul(place, size), along);
  }
  const Id result = e.reshape(node, kept);
  const Id is_nan = e.b.elementwise(Op::NE, {x, x}), same = e.equal(x, result);
  const Id taken = e.b.elementwise(Op::OR, {same, is_nan});
  const Id behind = number(n.value_or(std::numeric_limits<std::int64_t>::max()));
  const Id first = e.b.reduce(ReduceKind::min, e.where(taken, place, behind), axes);
  return e.equal(place, e.reshape(first, kept));
}

}  // namespace kiln::compiler::autodiff
