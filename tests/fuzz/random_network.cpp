// Makers of typical programs: layers of networks, images, tables. Each one makes several operations that
// passes recognise together.
#include <algorithm>

#include "compiler/ir/typing.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id numeric(ProgramState& s, Id x) { return s.g.dtype(x) == DType::boolean ? s.as(x, DType::i32) : x; }
Id real(ProgramState& s, Id x) { return is_float(s.g.dtype(x)) ? x : s.as(x, DType::f32); }

// `copies` of x in a row along an axis: expanded, then merged.
Id tiled(ProgramState& s, Id x, std::size_t axis, std::int64_t copies) {
  std::vector<Id> shape = s.b.shape_of(x), merged = shape;
  merged[axis] = index_mul(s.g, shape[axis], s.g.index(copies));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), s.g.index(1));
  x = s.b.reshape(x, shape);
  shape[axis] = s.g.index(copies);
  return s.b.reshape(s.b.expand(x, shape), merged);
}

Id cut(ProgramState& s, Id x, std::size_t axis, Id begin, Id extent, std::int64_t step) {
  std::vector<Id> shape = s.b.shape_of(x), from(shape.size(), s.g.index(0));
  std::vector<std::int64_t> steps(shape.size(), 1);
  from[axis] = begin;
  shape[axis] = extent;
  steps[axis] = step;
  return s.b.slice(x, from, steps, shape);
}

struct Window {
  std::int64_t kernel, stride, dilation;
};
Window window(ProgramState& s) {
  return {s.draw.between(1, 3), s.draw.of(std::array{1, 1, 1, 2, 3}), s.draw.of(std::array{1, 1, 1, 2})};
}

// Axis -> [kernel, count], as the DSL's window view: tiled, then cut into rows that are longer than the axis by the dilation.
Id windows(ProgramState& s, Id x, std::size_t axis, Window w) {
  const Id n = s.b.shape_of(x)[axis];
  const Id last = index_sub(s.g, n, s.g.index(w.dilation * (w.kernel - 1) + 1)), zero = s.g.index(0);
  const Id steps = index_floordiv(s.g, last, s.g.index(w.stride)), count = index_add(s.g, steps, s.g.index(1));
  const Id row = index_add(s.g, n, s.g.index(w.dilation)), length = index_mul(s.g, row, s.g.index(w.kernel));
  Id rows = cut(s, tiled(s, x, axis, w.kernel * (1 + w.dilation)), axis, zero, length, 1);
  std::vector<Id> shape = s.b.shape_of(rows);
  shape[axis] = row;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), s.g.index(w.kernel));
  rows = s.b.reshape(rows, shape);
  return cut(s, rows, axis + 1, zero, count, w.stride);
}

bool fits(ProgramState& s, Id x) { return s.elements(s.b.shape_of(x)) <= s.most_elements * 10; }

}  // namespace

Id pool(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || shape.size() > 4) return x;
  x = numeric(s, x);
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size())));
  Id v = windows(s, x, axis, window(s));
  std::vector<std::int64_t> axes{static_cast<std::int64_t>(axis)};
  if (axis + 1 < shape.size() && s.draw.one_in(2)) {
    v = windows(s, v, axis + 2, window(s));
    axes.push_back(static_cast<std::int64_t>(axis) + 2);
  }
  return fits(s, v) ? s.b.reduce(s.draw.of(std::array{ReduceKind::max, ReduceKind::min, ReduceKind::sum}), v, axes) : x;
}

namespace {

// The value's elements from `from` on, repeated, in a shape of constants.
Id filled(ProgramState& s, Id v, std::int64_t from, const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1, have = 1;
  std::vector<Id> extents;
  for (const std::int64_t e : shape) n *= e, extents.push_back(s.g.index(e));
  for (const Id e : s.b.shape_of(v)) have *= index_value(s.g, e).value_or(0);
  if (have <= from || have > 5000) v = s.b.iota(s.g.dtype(v), s.g.index(have = from + 7));
  const Id flat[] = {s.g.index(have)};
  v = tiled(s, s.b.reshape(v, flat), 0, (from + n + have - 1) / have);
  const Id begin = s.g.index(from);
  return s.b.reshape(cut(s, v, 0, begin, s.g.index(n), 1), extents);
}

Id filter(ProgramState& s, DType d, const std::vector<std::int64_t>& shape) { return filled(s, s.as(s.any(), d), 0, shape); }

}  // namespace

Id convolve(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() < 2 || shape.size() > 3) return x;
  x = numeric(s, x);
  const std::size_t rank = shape.size();
  const auto channels = index_value(s.g, shape[rank - 2]);
  if (!channels || *channels < 1 || *channels > 40) return x;
  const Window w = window(s);
  if (s.draw.one_in(2)) {
    std::vector<Id> before(rank, s.g.index(0)), padded = shape;
    before[rank - 1] = s.g.index(1);
    padded[rank - 1] = index_add(s.g, shape[rank - 1], s.g.index(2));
    x = s.b.pad(x, s.number(s.g.dtype(x), 0), PadMode::constant, before, padded);
  }
  const std::int64_t outs = s.draw.between(1, 5);
  Id v = windows(s, x, rank - 1, w);  // [.., C, K, H]
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i + 2 < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  const auto r = static_cast<std::int64_t>(rank);
  for (const std::int64_t a : {r, r - 2, r - 1}) order.push_back(a);
  v = s.b.permute(v, order);  // [.., H, C, K]
  std::vector<Id> whole = s.b.shape_of(v);
  whole.insert(whole.end() - 3, s.g.index(1));
  v = s.b.reshape(v, whole);
  whole[rank - 2] = s.g.index(outs);
  if (s.elements(whole) > s.most_elements * 10) return x;
  const Id f = filter(s, s.g.dtype(x), {outs, 1, *channels, w.kernel});
  const std::int64_t axes[] = {r, r + 1};
  v = s.b.expand(v, whole);
  Id y = s.b.reduce_fma(v, s.b.broadcast_to(f, whole), axes);
  return s.draw.one_in(2) ? s.b.elementwise(Op::ADD, {y, filter(s, s.g.dtype(x), {outs, 1})}) : y;
}

namespace {

Id tile(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size())));
  return tiled(s, x, axis, s.draw.between(2, 4));
}

Id roll(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size())));
  const std::int64_t by = s.draw.between(1, 4);
  const Id rest = index_sub(s.g, shape[axis], s.g.index(by));
  const Id parts[] = {cut(s, x, axis, rest, s.g.index(by), 1), cut(s, x, axis, s.g.index(0), rest, 1)};
  return s.b.concat(parts, static_cast<std::int64_t>(axis));
}

Id activation(ProgramState& s, Id x) {
  x = real(s, x);
  const DType d = s.g.dtype(x);
  const auto of = [&](Op op, Id a, Id c = no_id) {
    return c == no_id ? s.b.elementwise(op, {a}) : s.b.elementwise(op, {a, c});
  };
  const Id one = s.number(d, 1);
  switch (s.draw.below(4)) {
    case 0: return of(Op::MAX, x, s.number(d, 0));
    case 1: return of(Op::FDIV, x, of(Op::ADD, one, of(Op::EXP, of(Op::NEG, x))));
    case 2: return of(Op::MUL, x, of(Op::ADD, one, of(Op::ERF, of(Op::MUL, x, s.special(d)))));
    default: return of(Op::TANH, x);
  }
}

Id contract_last(ProgramState& s, Id a, Id b) {  // [.., M, K] and [.., N, K] -> [.., M, N]
  std::vector<Id> left = s.b.shape_of(a), right = s.b.shape_of(b), whole = left;
  whole.insert(whole.end() - 1, right[right.size() - 2]);
  left.insert(left.end() - 1, s.g.index(1));
  right.insert(right.end() - 2, s.g.index(1));
  const std::int64_t axes[] = {static_cast<std::int64_t>(whole.size()) - 1};
  a = s.b.expand(s.b.reshape(a, left), whole), b = s.b.broadcast_to(s.b.reshape(b, right), whole);
  return s.b.reduce_fma(a, b, axes);
}

// [.., K] times a matrix of a few columns, then a bias and an activation; sometimes twice.
Id dense(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() < 2 || shape.size() > 4) return x;
  x = numeric(s, x);
  const auto k = index_value(s.g, shape.back());
  if (!k || *k < 1 || *k > 300) return x;
  const std::int64_t n = s.draw.of(std::array{1, 3, 8, 16, 33});
  std::vector<Id> whole = shape;
  whole.push_back(s.g.index(n));
  if (s.elements(whole) > s.most_elements * 10) return x;
  x = contract_last(s, x, filter(s, s.g.dtype(x), {n, *k}));
  if (s.draw.one_in(2)) x = s.b.elementwise(Op::ADD, {x, filter(s, s.g.dtype(x), {n})});
  return s.draw.one_in(2) ? activation(s, x) : x;
}

// [M, K] times [K, N] of small integers, large enough to be multiplied as pairs.
Id quantised(ProgramState& s, Id x) {
  const std::int64_t m = s.draw.between(7, 20), n = s.draw.between(7, 40), k = s.draw.between(15, 40);
  const Id a = small_integers(s, filled(s, numeric(s, x), 0, {m, k}));
  const Id other = numeric(s, s.any());
  const std::int64_t from = s.draw.between(0, 3);
  Id b = small_integers(s, filled(s, other, from, {n, k}));
  if (s.draw.one_in(2)) b = s.b.elementwise(Op::SUB, {b, s.number(DType::i32, s.draw.of(std::array{3, 128, 32'000}))});
  const Id c = contract_last(s, a, b);
  return s.draw.one_in(2) ? s.as(c, DType::f32) : c;
}

// The same layer a few times. All weights are in one value, each layer's behind the last one's.
Id stacked(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() != 2) return x;
  x = numeric(s, x);
  const auto k = index_value(s.g, shape.back());
  if (!k || *k < 1 || *k > 9 || s.size(shape[0]) * static_cast<double>(*k * *k) > s.most_elements * 10) return x;
  const Id weights = s.as(s.any(), s.g.dtype(x));
  const bool bias = s.draw.one_in(2), active = s.draw.one_in(2);
  const int layers = s.draw.between(2, 4);
  for (int i = 0; i < layers; ++i) {
    x = contract_last(s, x, filled(s, weights, i * *k * *k, {*k, *k}));
    if (bias) x = s.b.elementwise(Op::ADD, {x, filled(s, weights, i * *k, {*k})});
    if (active) x = s.b.elementwise(Op::MAX, {x, s.number(s.g.dtype(x), 0)});
  }
  return x;
}

Id swapped(ProgramState& s, Id x) {
  std::vector<std::int64_t> axes(s.b.shape_of(x).size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return s.b.permute(x, axes);
}

Id over_last(ProgramState& s, ReduceKind kind, Id x) {  // keeps the axis
  std::vector<Id> shape = s.b.shape_of(x);
  const std::int64_t axes[] = {static_cast<std::int64_t>(shape.size()) - 1};
  shape.back() = s.g.index(1);
  return s.b.reshape(s.b.reduce(kind, x, axes), shape);
}

// exp(x - max) and its sum over the last axis.
std::pair<Id, Id> exponentials(ProgramState& s, Id x) {
  const Id e = s.b.elementwise(Op::EXP, {s.b.elementwise(Op::SUB, {x, over_last(s, ReduceKind::max, x)})});
  return {e, over_last(s, ReduceKind::sum, e)};
}

// softmax(x x^T, perhaps with a triangle masked out) x
Id attention(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() < 2 || shape.size() > 3) return x;
  x = real(s, x);
  std::vector<Id> whole = shape;
  whole.push_back(shape[shape.size() - 2]);
  if (s.elements(whole) > s.most_elements * 10) return x;
  Id scores = contract_last(s, x, s.draw.one_in(3) ? s.b.elementwise(Op::NEG, {x}) : x);
  if (s.draw.one_in(2)) {
    const Id n = shape[shape.size() - 2], row = s.b.iota(DType::i32, n);
    const Id past = s.b.elementwise(Op::LE, {row, s.b.reshape(row, std::vector{n, s.g.index(1)})});
    scores = s.b.elementwise(Op::WHERE, {past, scores, s.number(s.g.dtype(x), -100)});
  }
  const auto [e, sum] = exponentials(s, scores);
  const Id p = s.b.elementwise(Op::FDIV, {e, sum});
  return contract_last(s, p, swapped(s, x));
}

Id mean_last(ProgramState& s, Id x) {
  const Id n = s.b.extent_value(s.g.dtype(x), s.b.shape_of(x).back());
  return s.b.elementwise(Op::FDIV, {over_last(s, ReduceKind::sum, x), n});
}

Id layer_norm(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  x = real(s, x);
  const Id off = s.b.elementwise(Op::SUB, {x, mean_last(s, x)});
  const Id variance = mean_last(s, s.b.elementwise(Op::MUL, {off, off}));
  const Id deviation = s.b.elementwise(Op::SQRT, {s.b.elementwise(Op::ADD, {variance, s.number(s.g.dtype(x), 1)})});
  x = s.b.elementwise(Op::FDIV, {off, deviation});
  return s.draw.one_in(2) ? s.b.elementwise(Op::FMA, {x, s.like(x), s.like(x)}) : x;
}

Id log_softmax(ProgramState& s, Id x) {
  if (s.b.shape_of(x).empty()) return x;
  x = real(s, x);
  const auto [e, sum] = exponentials(s, x);
  return s.b.elementwise(Op::SUB,
                         {s.b.elementwise(Op::SUB, {x, over_last(s, ReduceKind::max, x)}), s.b.elementwise(Op::LOG, {sum})});
}

// Minus the mean log-probability of a class for each row.
Id cross_entropy(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() < 2) return x;
  const Id p = log_softmax(s, x);
  const Id target = s.as(
      s.b.reduce(s.draw.one_in(2) ? ReduceKind::argmin : ReduceKind::argmax, x, std::array{std::int64_t(shape.size()) - 1}),
      DType::i32);
  std::vector<Id> column = shape;
  column.back() = s.g.index(1);
  const Id hit = s.b.elementwise(Op::EQ, {s.b.reshape(target, column), s.b.iota(DType::i32, shape.back())});
  const Id taken = s.b.elementwise(Op::WHERE, {hit, p, s.number(s.g.dtype(p), 0)});
  return s.b.elementwise(Op::NEG, {s.b.reduce(ReduceKind::sum, taken, s.some_axes(static_cast<int>(shape.size())))});
}

Id unroll_rows(ProgramState& s, Id x) {
  if (s.b.shape_of(x).empty()) return x;
  const ReduceKind kind = s.draw.of(std::array{ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min});
  return over_last(s, kind, numeric(s, x));
}

// A chain along rows: each step reads the row and the results of earlier steps for it.
Id rows(ProgramState& s, Id x) {
  if (s.b.shape_of(x).empty()) return x;
  x = numeric(s, x);
  const int steps = s.draw.between(2, 4);
  for (int i = 0; i < steps; ++i) {
    const Id r = unroll_rows(s, x);
    x = s.b.elementwise(s.draw.of(std::array{Op::SUB, Op::ADD, Op::MUL, Op::MAX}), {x, r});
    if (is_float(s.g.dtype(x)) && s.draw.one_in(3)) x = s.b.elementwise(s.draw.of(std::array{Op::EXP, Op::ABS, Op::SQRT}), {x});
  }
  return s.draw.one_in(3) ? unroll_rows(s, x) : x;
}

}  // namespace

std::vector<WeightedMaker> network_makers() {
  return {{pool, 2},    {convolve, 2},  {tile, 2},       {roll, 2},        {activation, 2},    {dense, 2}, {quantised, 2},
          {stacked, 1}, {attention, 1}, {layer_norm, 2}, {log_softmax, 1}, {cross_entropy, 1}, {rows, 3}};
}

}  // namespace kiln::compiler::testing
