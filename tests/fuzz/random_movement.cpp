// Makers of movement operations for random programs.
#include <algorithm>

#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

// Splits an extent into two factors: a constant, or a product with a coefficient or several symbols.
std::vector<Id> split(ProgramState& s, Id e) {
  if (const auto v = index_value(s.g, e); v && *v > 1) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 2; d <= *v; ++d)
      if (*v % d == 0) divisors.push_back(d);
    const std::int64_t d = s.draw.of(divisors);
    return {s.g.index(d), s.g.index(*v / d)};
  }
  const Poly p = poly_of(s.g, e);
  if (p.size() != 1 || p[0].atoms.empty()) return {e};
  const Id inner = p[0].atoms.back();
  Poly rest = p;
  rest[0].atoms.pop_back();
  const Id outer = index_from(s.g, rest);
  return s.draw.one_in(2) ? std::vector{inner, outer} : std::vector{outer, inner};
}

Id reshape(ProgramState& s, Id x) {
  std::vector<Id> e = s.b.shape_of(x);
  const int steps = s.draw.between(1, 3);
  for (int i = 0; i < steps; ++i) {
    const int what = s.draw.below(4);
    const auto at = static_cast<std::ptrdiff_t>(s.draw.below(static_cast<int>(e.size()) + 1));
    const auto axis = static_cast<std::size_t>(at);
    if (what == 0) e.insert(e.begin() + at, s.g.index(1));
    if (axis >= e.size()) continue;
    if (what == 1 && axis + 1 < e.size()) {
      e[axis] = index_mul(s.g, e[axis], e[axis + 1]);
      e.erase(e.begin() + at + 1);
    }
    if (what == 2 && e.size() < 5) {
      const std::vector<Id> parts = split(s, e[axis]);
      e.erase(e.begin() + at);
      e.insert(e.begin() + at, parts.begin(), parts.end());
    }
    if (what == 3 && s.g.is_index_const(e[axis], 1)) e.erase(e.begin() + at);
  }
  return e.size() > 6 ? x : s.b.reshape(x, e);
}

Id permute(ProgramState& s, Id x) {
  std::vector<std::int64_t> axes(s.b.shape_of(x).size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = axes.size(); i > 1; --i)
    std::swap(axes[i - 1], axes[static_cast<std::size_t>(s.draw.below(static_cast<int>(i)))]);
  return axes.size() < 2 ? x : s.b.permute(x, axes);
}

struct SliceAxis {
  Id begin, extent;
  std::int64_t step;
};

SliceAxis slice_axis(ProgramState& s, Id n) {
  const auto v = index_value(s.g, n);
  if (v && *v > 1) {
    const auto size = static_cast<int>(*v);
    const int first = s.draw.below(size), step = s.draw.between(1, 3);
    const bool down = s.draw.one_in(3);
    const int most = down ? first / step + 1 : (size - 1 - first) / step + 1;
    return {s.g.index(first), s.g.index(s.draw.one_in(2) ? most : s.draw.between(s.draw.one_in(20) ? 0 : 1, most)),
            down ? -step : step};
  }
  if (v) return {s.g.index(0), n, 1};
  const Id last = index_sub(s.g, n, s.g.index(1));
  switch (s.draw.below(5)) {
    case 0: return {last, n, -1};
    case 1: {
      const Id more = index_add(s.g, n, s.g.index(1));
      return {s.g.index(0), index_floordiv(s.g, more, s.g.index(2)), 2};
    }
    case 2: return {s.g.index(1), last, 1};
    case 3: return {s.g.index(0), last, 1};
    default: return {s.g.index(0), n, 1};
  }
}

Id slice(ProgramState& s, Id x) {
  std::vector<Id> begin, extents;
  std::vector<std::int64_t> step;
  const std::vector<Id> shape = s.b.shape_of(x);
  for (const Id n : shape) {
    const SliceAxis a = s.draw.one_in(3) ? SliceAxis{s.g.index(0), n, 1} : slice_axis(s, n);
    begin.push_back(a.begin);
    extents.push_back(a.extent);
    step.push_back(a.step);
  }
  return s.b.slice(x, begin, step, extents);
}

Id flip(ProgramState& s, Id x) { return flipped(s, x); }

Id pad_with(ProgramState& s, Id x, PadMode mode) {
  std::vector<Id> before, extents;
  const std::vector<Id> shape = s.b.shape_of(x);
  for (const Id n : shape) {
    const bool here = s.draw.below(3) != 0;
    const Id low = s.g.index(here ? s.draw.below(4) : 0), high = s.g.index(here ? s.draw.below(4) : 0);
    before.push_back(!s.symbols.empty() && mode == PadMode::constant && s.draw.one_in(8) ? s.extent() : low);
    extents.push_back(index_add(s.g, index_add(s.g, n, before.back()), high));
  }
  const Id fill = s.draw.one_in(2) ? s.number(s.g.dtype(x), 0) : s.special(s.g.dtype(x));
  return s.b.pad(x, fill, mode, before, extents);
}

Id pad_constant(ProgramState& s, Id x) { return pad_with(s, x, PadMode::constant); }
Id pad_other(ProgramState& s, Id x) {
  return pad_with(s, x, s.draw.of(std::array{PadMode::edge, PadMode::reflect, PadMode::wrap}));
}

Id concat(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  const int axis = s.draw.below(static_cast<int>(shape.size()));
  std::vector<Id> parts{x};
  const int more = s.draw.between(1, 3);
  for (int i = 0; i < more; ++i) {
    const Id y = s.any();
    std::vector<Id> other = s.b.shape_of(y);
    bool fits = other.size() == shape.size();
    for (std::size_t a = 0; fits && a < shape.size(); ++a) fits = other[a] == shape[a] || static_cast<int>(a) == axis;
    parts.push_back(fits ? s.as(y, s.g.dtype(x)) : s.draw.one_in(2) ? x : flip(s, x));
  }
  std::swap(parts[0], parts[static_cast<std::size_t>(s.draw.below(static_cast<int>(parts.size())))]);
  return s.b.concat(parts, axis);
}

Id expand(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() >= 4) return x;
  const auto at = static_cast<std::ptrdiff_t>(s.draw.below(static_cast<int>(shape.size()) + 1));
  shape.insert(shape.begin() + at, s.g.index(1));
  x = s.b.reshape(x, shape);
  for (Id& e : shape) {
    if (!s.g.is_index_const(e, 1)) continue;
    e = s.extent();
    if (s.elements(shape) > s.most_elements) e = s.g.index(s.draw.between(1, 3));
  }
  return s.b.expand(x, shape);
}

// Gathers rows or elements: integers from x or another value are indices on the first axes.
Id gather(ProgramState& s, Id x) {
  const auto rank = static_cast<int>(s.b.shape_of(x).size());
  if (rank == 0) return x;
  std::vector<Id> index;
  for (int k = s.draw.between(1, std::min(rank, 3)); k-- > 0;) {
    const DType d = s.draw.of(std::array{DType::i8, DType::i32, DType::i64, DType::u8, DType::u64});
    Id i = index.empty() || s.draw.one_in(3) ? s.any() : s.like(index[0]);
    if (s.draw.one_in(6)) i = s.number(d, s.draw.below(5));
    index.push_back(s.as(i, d));
  }
  std::vector<Id> extents = s.b.shape_of(index[0]);
  const std::vector<Id> shape = s.b.shape_of(x);
  extents.insert(extents.end(), shape.begin() + static_cast<std::ptrdiff_t>(index.size()), shape.end());
  if (extents.size() > 6 || s.elements(extents) > s.most_elements) return x;
  for (std::size_t k = 1; k < index.size(); ++k) {  // the first index has the shape of all
    const std::vector<Id> other = s.b.shape_of(index[k]);
    if (!other.empty() && other != s.b.shape_of(index[0])) index[k] = index[0];
  }
  return s.b.gather(x, index);
}

Id stage(ProgramState& s, Id x) { return s.b.stage(x); }

Id chain(ProgramState& s, Id x) {
  const int steps = s.draw.between(3, 8);
  for (int i = 0; i < steps; ++i) {
    static constexpr Maker makers[] = {reshape, permute, slice, flip, pad_constant, pad_other, expand, concat};
    const Id y = s.draw.of(makers)(s, x);
    if (s.elements(s.b.shape_of(y)) <= s.most_elements) x = y;
  }
  return x;
}

// A sum of neighbours, as in blurs and convolutions.
Id stencil(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || s.g.dtype(x) == DType::boolean) return x;
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size())));
  std::vector<Id> before(shape.size(), s.g.index(0)), extents = shape;
  before[axis] = s.g.index(1);
  extents[axis] = index_add(s.g, shape[axis], s.g.index(2));
  const PadMode mode = s.draw.of(std::array{PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::wrap});
  const Id padded = s.b.pad(x, s.number(s.g.dtype(x), 0), mode, before, extents);
  const std::vector<std::int64_t> ones(shape.size(), 1);
  Id sum = no_id;
  for (int k = 0; k < 3; ++k) {
    before[axis] = s.g.index(k);
    const Id part = s.b.slice(padded, before, ones, shape);
    sum = k == 0 ? part : s.b.elementwise(Op::ADD, {sum, part});
  }
  return sum;
}

}  // namespace

Id flipped(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  std::vector<Id> begin(shape.size(), s.g.index(0));
  std::vector<std::int64_t> step(shape.size(), 1);
  if (shape.empty()) return x;
  for (const std::int64_t a : s.some_axes(static_cast<int>(shape.size()))) {
    begin[static_cast<std::size_t>(a)] = index_sub(s.g, shape[static_cast<std::size_t>(a)], s.g.index(1));
    step[static_cast<std::size_t>(a)] = -1;
  }
  return s.b.slice(x, begin, step, shape);
}

std::vector<WeightedMaker> movement_makers() {
  return {{reshape, 5}, {permute, 4}, {slice, 4},  {flip, 2},   {pad_constant, 3}, {pad_other, 3},
          {gather, 4},  {stage, 1},   {concat, 4}, {expand, 4}, {chain, 6},        {stencil, 3}};
}

}  // namespace kiln::compiler::testing
