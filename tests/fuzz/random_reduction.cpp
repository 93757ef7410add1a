// Makers of reductions for random programs.
#include <algorithm>

#include "compiler/ir/typing.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id reduce(ProgramState& s, Id x) {
  static constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::sum, ReduceKind::prod,
                                         ReduceKind::max, ReduceKind::min, ReduceKind::any, ReduceKind::all};
  const ReduceKind kind = s.draw.of(kinds);
  const auto rank = static_cast<int>(s.b.shape_of(x).size());
  if (rank == 0) return x;
  std::string problem;
  if (reduce_dtype(kind, s.g.dtype(x), problem) == DType::none)
    x = s.as(x, kind == ReduceKind::any || kind == ReduceKind::all ? DType::boolean : DType::f32);
  return s.b.reduce(kind, x, s.some_axes(rank));
}

Id scan(ProgramState& s, Id x) {
  static constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min};
  const ReduceKind kind = s.draw.of(kinds);
  const auto rank = static_cast<int>(s.b.shape_of(x).size());
  if (rank == 0) return x;
  std::string problem;
  if (scan_dtype(kind, s.g.dtype(x), problem) == DType::none) x = s.as(x, DType::f32);
  const std::int64_t axis = s.draw.below(rank);
  const bool exclusive = s.draw.one_in(3), reversed = s.draw.one_in(3);
  return s.b.scan(kind, x, axis, exclusive, reversed);
}

Id arg_extreme(ProgramState& s, Id x) {
  const auto rank = static_cast<int>(s.b.shape_of(x).size());
  if (rank == 0) return x;
  const std::int64_t axes[] = {s.draw.below(rank)};
  return s.b.reduce(s.draw.one_in(2) ? ReduceKind::argmax : ReduceKind::argmin, x, axes);
}

Id contract(ProgramState& s, Id x) {
  const auto rank = static_cast<int>(s.b.shape_of(x).size());
  if (rank == 0) return x;
  if (s.g.dtype(x) == DType::boolean) x = s.as(x, DType::i32);
  const Id narrow = s.like(x), y = s.b.broadcast_to(narrow, s.b.shape_of(x));
  if (s.draw.one_in(2)) return s.b.reduce_fma(x, y, s.some_axes(rank));
  const std::int64_t last[] = {rank - 1};
  return s.b.reduce_dot(x, y, last);
}

// [..., M, K] times [K, N], if some value of rank 2 has the extent K; else times its own transpose.
Id matmul(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() < 2 || s.g.dtype(x) == DType::boolean) return x;
  Id y = x;
  for (const Id v : s.values) {
    const std::vector<Id> other = s.b.shape_of(v);
    if (other.size() == 2 && (other[0] == shape.back() || other[1] == shape.back()) && s.draw.one_in(2)) y = v;
  }
  std::vector<Id> right = s.b.shape_of(y);
  if (y == x && right.size() != 2) return x;
  static constexpr std::int64_t swap[] = {1, 0};
  if (right[1] != shape.back()) {
    y = s.b.permute(y, swap);
    std::swap(right[0], right[1]);
  }
  if (is_int(s.g.dtype(x)) && s.draw.one_in(2)) {
    y = small_integers(s, y);
    x = small_integers(s, x);
  }
  std::vector<Id> whole = shape;
  whole.insert(whole.end() - 1, right[0]);
  if (s.elements(whole) > s.most_elements * 10) return x;
  std::vector<Id> left = shape;
  left.insert(left.end() - 1, s.g.index(1));
  const Id a = s.b.expand(s.b.reshape(x, left), whole), c = s.b.broadcast_to(s.as(y, s.g.dtype(x)), whole);
  const std::int64_t axes[] = {static_cast<std::int64_t>(whole.size()) - 1};
  if (is_int(s.g.dtype(x)) && s.draw.one_in(4)) return s.b.reduce(ReduceKind::sum, s.b.elementwise(Op::MUL, {a, c}), axes);
  return s.draw.one_in(4) ? s.b.reduce_dot(a, c, axes) : s.b.reduce_fma(a, c, axes);
}

Id kept(ProgramState& s, Id reduced, std::vector<Id> shape, std::size_t axis) {
  shape[axis] = s.g.index(1);
  return s.b.reshape(reduced, shape);
}

Id softmax(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  if (!is_float(s.g.dtype(x))) x = s.as(x, DType::f32);
  const auto axis =
      s.draw.one_in(3) ? static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size()))) : shape.size() - 1;
  const std::int64_t axes[] = {static_cast<std::int64_t>(axis)};
  const Id most = kept(s, s.b.reduce(ReduceKind::max, x, axes), shape, axis);
  const Id e = s.b.elementwise(Op::EXP, {s.b.elementwise(Op::SUB, {x, most})});
  const Id sum = kept(s, s.b.reduce(ReduceKind::sum, e, axes), shape, axis);
  return s.b.elementwise(Op::FDIV, {e, sum});
}

// Deviations from the mean of an axis, scaled by the variance.
Id normalise(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  const DType d = is_float(s.g.dtype(x)) ? s.g.dtype(x) : DType::f32;
  x = s.as(x, d);
  const std::size_t axis = shape.size() - 1;
  const std::int64_t axes[] = {static_cast<std::int64_t>(axis)};
  const Id n = s.b.extent_value(d, shape[axis]);
  const Id mean = s.b.elementwise(Op::FDIV, {kept(s, s.b.reduce(ReduceKind::sum, x, axes), shape, axis), n});
  const Id off = s.b.elementwise(Op::SUB, {x, mean});
  const Id variance = s.b.elementwise(Op::FDIV, {kept(s, s.b.reduce_fma(off, off, axes), shape, axis), n});
  return s.b.elementwise(Op::MUL, {off, s.b.elementwise(Op::RSQRT, {variance})});
}

// Running sums: a triangle of indices selects the elements that count.
Id cumulative(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || s.g.dtype(x) == DType::boolean || shape.size() > 3) return x;
  const Id n = shape.back();
  std::vector<Id> whole = shape;
  whole.push_back(n);
  if (s.elements(whole) > s.most_elements * 10) return x;
  std::vector<Id> middle = shape;
  middle.insert(middle.end() - 1, s.g.index(1));
  const Id row = s.b.iota(DType::i32, n), column = s.b.reshape(row, std::vector{n, s.g.index(1)});
  const Id inside = s.b.elementwise(s.draw.one_in(2) ? Op::LE : Op::LT, {row, column});
  const Id part = s.b.elementwise(Op::WHERE, {inside, s.b.reshape(x, middle), s.number(s.g.dtype(x), 0)});
  const std::int64_t axes[] = {static_cast<std::int64_t>(shape.size())};
  return s.b.reduce(ReduceKind::sum, part, axes);
}

// Rows of x at random indices: a sum over all indices, of which one equals the wanted index.
Id gather(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || shape.size() > 2 || s.g.dtype(x) == DType::boolean) return x;
  const Id picks = s.as(s.any(), DType::i32);
  const std::vector<Id> at = s.b.shape_of(picks);
  std::vector<Id> index = at, whole = at;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    index.push_back(s.g.index(1));
    whole.push_back(shape[i]);
  }
  if (s.elements(whole) > s.most_elements * 10 || whole.size() > 5) return x;
  std::vector<Id> along(shape.size(), s.g.index(1));
  along[0] = shape[0];
  const Id hit = s.b.elementwise(Op::EQ, {s.b.reshape(picks, index), s.b.reshape(s.b.iota(DType::i32, shape[0]), along)});
  const Id part = s.b.elementwise(Op::WHERE, {hit, x, s.number(s.g.dtype(x), 0)});
  const std::int64_t axes[] = {static_cast<std::int64_t>(at.size())};
  return s.b.reduce(ReduceKind::sum, part, axes);
}

}  // namespace

std::vector<WeightedMaker> reduction_makers() {
  return {{reduce, 7},  {scan, 3},      {arg_extreme, 2}, {contract, 2}, {matmul, 3},
          {softmax, 2}, {normalise, 1}, {cumulative, 1},  {gather, 2}};
}

}  // namespace kiln::compiler::testing
