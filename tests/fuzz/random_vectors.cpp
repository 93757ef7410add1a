// Makers of rows of a few components: points, complex numbers, small matrices, and what is broadcast between them.
#include <algorithm>

#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id op(ProgramState& s, Op o, Id a, Id b) { return s.b.elementwise(o, {a, b}); }

struct Rows {
  Id value = no_id;  // [rows, components], no_id where nothing fits
  Id rows = no_id;
  std::int64_t components = 1;

  // The elements of x, and different numbers beside them.
  Rows(ProgramState& s, Id x, std::int64_t n) : rows(s.g.index(1)), components(n) {
    for (const Id e : s.b.shape_of(x)) rows = index_mul(s.g, rows, e);
    if (s.elements({rows, s.g.index(n)}) > s.most_elements) return;
    const DType d = s.g.dtype(x) == DType::boolean ? DType::i32 : s.g.dtype(x);
    const Id column = s.b.reshape(s.as(x, d), std::vector<Id>{rows, s.g.index(1)});
    const Id number = s.b.reshape(s.b.iota(d, s.g.index(n)), std::vector<Id>{s.g.index(1), s.g.index(n)});
    const std::vector<Id> shape{rows, s.g.index(n)};
    value = op(s, s.draw.one_in(2) ? Op::ADD : Op::MUL, s.b.expand(column, shape), s.b.expand(number, shape));
  }
};

Id sum(ProgramState& s, Id x, std::int64_t axis) {
  const std::int64_t axes[] = {axis};
  return s.b.reduce(s.draw.of(std::array{ReduceKind::sum, ReduceKind::sum, ReduceKind::max}), x, axes);
}

Id widened(ProgramState& s, Id x, const std::vector<Id>& narrow, const std::vector<Id>& shape) {
  return s.b.expand(s.b.reshape(x, narrow), shape);
}

// What a function of the length makes of each component.
Id scaled(ProgramState& s, Id x) {
  const Rows r(s, x, s.draw.between(2, 9));
  if (r.value == no_id) return x;
  const std::vector<Id> shape = s.b.shape_of(r.value);
  Id length = sum(s, op(s, Op::MUL, r.value, r.value), 1);
  if (is_float(s.g.dtype(length))) length = s.b.elementwise(Op::SQRT, {length});
  return op(s, is_float(s.g.dtype(length)) ? Op::FDIV : Op::SUB, r.value, widened(s, length, {r.rows, s.g.index(1)}, shape));
}

// Of all pairs of rows: a difference, weighed by a function of its length, added up.
Id attracted(ProgramState& s, Id x) {
  const Rows r(s, x, s.draw.between(2, 5));
  const Id one = s.g.index(1), n = s.g.index(r.components);
  const std::vector<Id> all{r.rows, r.rows, n};
  if (r.value == no_id || s.elements(all) > s.most_elements * 10) return x;
  const Id difference = op(s, Op::SUB, widened(s, r.value, {r.rows, one, n}, all), widened(s, r.value, {one, r.rows, n}, all));
  Id weight = sum(s, op(s, Op::MUL, difference, difference), 2);
  if (is_float(s.g.dtype(weight))) weight = op(s, Op::FDIV, weight, op(s, Op::ADD, weight, weight));
  const Id weighed = op(s, Op::MUL, difference, widened(s, weight, {r.rows, r.rows, one}, all));
  return sum(s, weighed, s.draw.one_in(4) ? 0 : 1);
}

// The same of planes: components outside of rows.
Id attracted_planes(ProgramState& s, Id x) {
  const Rows r(s, x, s.draw.between(2, 5));
  const Id one = s.g.index(1), n = s.g.index(r.components);
  const std::vector<Id> all{n, r.rows, r.rows};
  if (r.value == no_id || s.elements(all) > s.most_elements * 10) return x;
  static constexpr std::int64_t swap[] = {1, 0};
  const Id planes = s.b.permute(r.value, swap);
  const Id difference = op(s, Op::SUB, widened(s, planes, {n, r.rows, one}, all), widened(s, planes, {n, one, r.rows}, all));
  Id weight = sum(s, op(s, Op::MUL, difference, difference), 0);
  if (is_float(s.g.dtype(weight))) weight = op(s, Op::FDIV, weight, op(s, Op::ADD, weight, weight));
  return sum(s, op(s, Op::MUL, difference, widened(s, weight, {one, r.rows, r.rows}, all)), s.draw.between(1, 2));
}

// Matrices times matrices, row by row; or all rows times one matrix.
Id matrices(ProgramState& s, Id x) {
  const std::int64_t k = s.draw.between(2, 4);
  const Rows r(s, x, k * k);
  const Id one = s.g.index(1), n = s.g.index(k);
  const std::vector<Id> all{r.rows, n, n, n};
  if (r.value == no_id || s.elements(all) > s.most_elements * 10) return x;
  const Id left = widened(s, r.value, {r.rows, n, one, n}, all);
  const Id other = s.draw.one_in(2)
                       ? r.value
                       : s.b.reshape(s.b.iota(s.g.dtype(r.value), s.g.index(k * k)), std::vector<Id>{one, s.g.index(k * k)});
  const Id right = widened(s, other, {s.b.shape_of(other)[0], one, n, n}, all);
  const std::int64_t axes[] = {3};
  return s.b.reduce_fma(left, right, axes);
}

// Complex numbers: the product with their neighbours' parts exchanged.
Id complex(ProgramState& s, Id x) {
  const Rows r(s, x, 2);
  if (r.value == no_id) return x;
  const Id zero = s.g.index(0), one = s.g.index(1);
  const auto part = [&](Id at) {
    return s.b.slice(r.value, std::vector<Id>{zero, at}, std::vector<std::int64_t>{1, 1}, std::vector<Id>{r.rows, one});
  };
  const Id re = part(zero), im = part(one);
  const Id parts[] = {op(s, Op::SUB, op(s, Op::MUL, re, re), op(s, Op::MUL, im, im)),
                      op(s, Op::ADD, op(s, Op::MUL, re, im), op(s, Op::MUL, im, re))};
  return s.b.concat(parts, 1);
}

}  // namespace

std::vector<WeightedMaker> vector_makers() {
  return {{scaled, 1}, {attracted, 1}, {attracted_planes, 1}, {matrices, 1}, {complex, 1}};
}

}  // namespace kiln::compiler::testing
