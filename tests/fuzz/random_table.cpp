// Makers of reductions over indices: a comparison of the index selects the elements that count. Where they can, passes turn
// these sums into reads or into arithmetic.
#include <algorithm>

#include "compiler/ir/typing.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id numeric(ProgramState& s, Id x) { return s.g.dtype(x) == DType::boolean ? s.as(x, DType::i32) : x; }

// Indices along axis `at` of `rank` axes: shape [1, .., extent, .., 1].
Id positions(ProgramState& s, DType d, Id extent, std::size_t at, std::size_t rank) {
  std::vector<Id> shape(rank, s.g.index(1));
  shape[at] = extent;
  return s.b.reshape(s.b.iota(d, extent), shape);
}

// p, or a multiple of p plus a number.
Id affine(ProgramState& s, Id p) {
  const DType d = s.g.dtype(p);
  if (s.draw.one_in(3)) p = s.b.elementwise(Op::MUL, {p, s.number(d, s.draw.between(-2, 3))});
  if (s.draw.one_in(3)) p = s.b.elementwise(Op::ADD, {p, s.number(d, s.draw.between(-5, 9))});
  if (s.draw.one_in(8)) p = s.b.elementwise(Op::FLOORDIV, {p, s.number(d, s.draw.between(1, 4))});
  return p;
}

// A comparison of index p with q: lower, upper and two-sided bounds, equal, not equal.
Id counted(ProgramState& s, Id p, Id q) {
  const auto of = [&](Op op, Id a, Id b) { return s.b.elementwise(op, {a, b}); };
  const DType d = s.g.dtype(p);
  switch (s.draw.below(6)) {
    case 0: return of(Op::LT, p, q);
    case 1: return of(Op::LE, q, p);
    case 2: return of(Op::EQ, p, q);
    case 3: return of(Op::NE, p, q);
    case 4: {
      const Id end = of(Op::ADD, q, s.number(d, s.draw.between(0, 6)));
      return s.b.elementwise(Op::AND, {of(Op::LE, q, p), of(Op::LT, p, end)});
    }
    default: return s.b.elementwise(Op::NOT, {of(Op::LT, p, q)});
  }
}

Id combine(ProgramState& s, Id condition, Id x) {
  const DType d = s.g.dtype(x);
  if (s.draw.one_in(5)) return s.b.elementwise(Op::MUL, {s.as(condition, d), x});
  const Id other = s.draw.one_in(5) ? s.special(d) : s.number(d, 0);
  return s.draw.one_in(4) ? s.b.elementwise(Op::WHERE, {condition, other, x})
                          : s.b.elementwise(Op::WHERE, {condition, x, other});
}

Id reduced(ProgramState& s, Id x, std::size_t axis) {
  static constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::sum,
                                         ReduceKind::max, ReduceKind::min, ReduceKind::prod};
  const std::int64_t axes[] = {static_cast<std::int64_t>(axis)};
  return s.b.reduce(s.draw.of(kinds), x, axes);
}

// [.., n] -> [.., n, n], reduced over the last axis or the one before: the sum of the elements of x that count for each index.
Id triangle(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || shape.size() > 3) return x;
  x = numeric(s, x);
  const std::size_t rank = shape.size() + 1;
  const Id n = shape.back();
  shape.insert(shape.end() - 1, s.g.index(1));
  std::vector<Id> whole = shape;
  whole[rank - 2] = s.draw.one_in(3) ? s.extent() : n;
  if (s.elements(whole) > s.most_elements * 10) return x;
  const DType d = s.draw.of(std::array{DType::i32, DType::i32, DType::i64, DType::i16, DType::u8, DType::f32});
  const bool fits = d != DType::u8 && d != DType::i16;
  Id row = positions(s, d, whole[rank - 2], rank - 2, rank), column = positions(s, d, n, rank - 1, rank);
  if (!is_float(d) && fits) row = affine(s, row), column = affine(s, column);
  const Id which = counted(s, column, row);
  Id part = combine(s, which, s.draw.one_in(4) ? s.special(s.g.dtype(x)) : s.b.reshape(x, shape));
  part = s.b.broadcast_to(part, s.b.shape_of(part).size() == rank ? whole : s.b.shape_of(part));
  return reduced(s, part, s.draw.one_in(4) ? rank - 2 : rank - 1);
}

// For each of a few j, the sum of the values with key j: histogram, one-hot, scatter.
Id by_key(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || shape.size() > 2) return x;
  x = numeric(s, x);
  const Id key = s.as(s.draw.one_in(2) ? s.like(x) : x, DType::i32);
  const Id keys = s.draw.one_in(3) ? s.extent() : s.g.index(s.draw.between(1, 12));
  std::vector<Id> column = shape, whole = shape;
  column.push_back(s.g.index(1));
  whole.push_back(keys);
  if (s.elements(whole) > s.most_elements * 10) return x;
  const Id hit = s.b.elementwise(Op::EQ, {s.b.reshape(s.b.broadcast_to(key, shape), column), s.b.iota(DType::i32, keys)});
  const Id part = combine(s, hit, s.b.reshape(x, column));
  return s.draw.one_in(4) ? part : reduced(s, s.b.broadcast_to(part, whole), 0);
}

// For each index the element of x along an axis. The index comes from data, and may be kept inside.
Id take(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || shape.size() > 3) return x;
  x = numeric(s, x);
  const std::size_t rank = shape.size();
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(rank)));
  Id index = s.any();
  index = s.as(index, s.draw.of(std::array{DType::i32, DType::i64, DType::i8, DType::u8, DType::u32}));
  if (s.b.shape_of(index).size() > 1) index = s.b.reduce(ReduceKind::max, index, std::array{std::int64_t{0}});
  if (s.b.shape_of(index).size() > 1) return x;
  const DType d = s.g.dtype(index);
  if (s.draw.one_in(2))
    index = s.b.elementwise(Op::MIN, {s.b.elementwise(Op::MAX, {index, s.number(d, 0)}),
                                      s.b.elementwise(Op::SUB, {s.b.extent_value(d, shape[axis]), s.number(d, 1)})});
  const Id count = s.b.shape_of(index).empty() ? s.g.index(1) : s.b.shape_of(index)[0];
  std::vector<Id> wide = shape, at(rank + 1, s.g.index(1)), whole;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), s.g.index(1));
  at[axis] = count;
  whole = wide;
  whole[axis] = count;
  if (s.elements(whole) > s.most_elements * 10) return x;
  const Id hit = s.b.elementwise(Op::EQ, {positions(s, d, shape[axis], axis + 1, rank + 1), s.b.reshape(index, at)});
  const Id part = s.b.elementwise(Op::WHERE, {hit, s.b.reshape(x, wide), s.number(s.g.dtype(x), 0)});
  return s.b.reduce(ReduceKind::sum, s.b.broadcast_to(part, whole), std::array{static_cast<std::int64_t>(axis) + 1});
}

// For each element of a row, the number of smaller elements: its place in the sorted row.
Id rank_in_row(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || shape.size() > 2) return x;
  std::vector<Id> column = shape, row = shape, whole = shape;
  column.push_back(s.g.index(1));
  row.insert(row.end() - 1, s.g.index(1));
  whole.push_back(shape.back());
  if (s.elements(whole) > s.most_elements * 10) return x;
  const Op op = s.draw.one_in(2) ? Op::LT : Op::LE;
  const Id larger = s.b.elementwise(op, {s.b.reshape(x, row), s.b.reshape(x, column)});
  const std::int64_t axes[] = {static_cast<std::int64_t>(shape.size())};
  if (s.draw.one_in(4)) return s.b.reduce(s.draw.one_in(2) ? ReduceKind::any : ReduceKind::all, larger, axes);
  return s.b.reduce(ReduceKind::sum, s.as(larger, s.draw.of(std::array{DType::i32, DType::f32, DType::f16, DType::u8})), axes);
}

// Reductions with simple operands: a constant, a value that does not change along the axis, indices.
Id little(ProgramState& s, Id x) {
  std::vector<Id> shape = s.b.shape_of(x);
  if (shape.size() > 4) return x;
  x = numeric(s, x);
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size()) + 1));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), s.g.index(1));
  Id v = s.b.reshape(x, shape);
  shape[axis] = s.extent();
  if (s.elements(shape) > s.most_elements * 10) return x;
  if (s.draw.one_in(3)) {
    const Id along = positions(s, s.g.dtype(x), shape[axis], axis, shape.size());
    v = s.b.elementwise(s.draw.of(std::array{Op::ADD, Op::MUL, Op::MAX}), {v, along});
  }
  return reduced(s, s.b.broadcast_to(v, shape), axis);
}

}  // namespace

std::vector<WeightedMaker> table_makers() { return {{triangle, 2}, {by_key, 2}, {take, 2}, {rank_in_row, 1}, {little, 3}}; }

}  // namespace kiln::compiler::testing
