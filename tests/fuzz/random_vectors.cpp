// Makers of rows of a few components: points, complex numbers, small matrices, and broadcasts between them.
#include <algorithm>

#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id widened(ProgramState& s, Id x, const std::vector<Id>& narrow, const std::vector<Id>& shape) {
  return s.b.expand(s.b.reshape(x, narrow), shape);
}

struct Rows {
  Id value = no_id;  // [rows, components]; no_id: nothing fits
  Id rows = no_id;
  std::int64_t components = 1;

  // The elements of x, combined with different numbers.
  Rows(ProgramState& s, Id x, std::int64_t n) : rows(s.g.index(1)), components(n) {
    for (const Id e : s.b.shape_of(x)) rows = index_mul(s.g, rows, e);
    if (s.elements({rows, s.g.index(n)}) > s.most_elements) return;
    const DType d = s.g.dtype(x) == DType::boolean ? DType::i32 : s.g.dtype(x);
    const Id one = s.g.index(1), count = s.g.index(n), numbers = s.b.iota(d, count);
    x = s.b.reshape(s.as(x, d), std::vector{rows, one});
    const std::vector<Id> shape{rows, count};
    const Op op = s.draw.one_in(2) ? Op::ADD : Op::MUL;
    value = s.b.elementwise(op, {s.b.expand(x, shape), widened(s, numbers, {one, count}, shape)});
  }
};

Id sum(ProgramState& s, Id x, std::int64_t axis) {
  const std::int64_t axes[] = {axis};
  return s.b.reduce(s.draw.of(std::array{ReduceKind::sum, ReduceKind::sum, ReduceKind::max}), x, axes);
}

// Each component scaled by a function of the row's length.
Id scaled(ProgramState& s, Id x) {
  const Rows r(s, x, s.draw.between(2, 9));
  if (r.value == no_id) return x;
  const std::vector<Id> shape = s.b.shape_of(r.value);
  Id length = sum(s, s.b.elementwise(Op::MUL, {r.value, r.value}), 1);
  if (is_float(s.g.dtype(length))) length = s.b.elementwise(Op::SQRT, {length});
  const Op op = is_float(s.g.dtype(length)) ? Op::FDIV : Op::SUB;
  return s.b.elementwise(op, {r.value, widened(s, length, {r.rows, s.g.index(1)}, shape)});
}

// A function of the length along an axis.
Id weight_of(ProgramState& s, Id x, std::int64_t axis) {
  const Id length = sum(s, s.b.elementwise(Op::MUL, {x, x}), axis);
  if (!is_float(s.g.dtype(length))) return length;
  return s.b.elementwise(Op::FDIV, {length, s.b.elementwise(Op::ADD, {length, length})});
}

// For all pairs of rows: a difference, weighted by a function of its length, summed up.
Id attracted(ProgramState& s, Id x) {
  const Rows r(s, x, s.draw.between(2, 5));
  const Id one = s.g.index(1), n = s.g.index(r.components);
  const std::vector<Id> all{r.rows, r.rows, n};
  if (r.value == no_id || s.elements(all) > s.most_elements * 10) return x;
  const Id left = widened(s, r.value, {r.rows, one, n}, all), right = widened(s, r.value, {one, r.rows, n}, all);
  const Id difference = s.b.elementwise(Op::SUB, {left, right}), weight = weight_of(s, difference, 2);
  const Id weighed = s.b.elementwise(Op::MUL, {difference, widened(s, weight, {r.rows, r.rows, one}, all)});
  return sum(s, weighed, s.draw.one_in(4) ? 0 : 1);
}

// The same for planes, where components are the outer axis.
Id attracted_planes(ProgramState& s, Id x) {
  const Rows r(s, x, s.draw.between(2, 5));
  const Id one = s.g.index(1), n = s.g.index(r.components);
  const std::vector<Id> all{n, r.rows, r.rows};
  if (r.value == no_id || s.elements(all) > s.most_elements * 10) return x;
  static constexpr std::int64_t swap[] = {1, 0};
  const Id planes = s.b.permute(r.value, swap);
  const Id left = widened(s, planes, {n, r.rows, one}, all), right = widened(s, planes, {n, one, r.rows}, all);
  const Id difference = s.b.elementwise(Op::SUB, {left, right}), weight = weight_of(s, difference, 0);
  const Id weighed = s.b.elementwise(Op::MUL, {difference, widened(s, weight, {one, r.rows, r.rows}, all)});
  return sum(s, weighed, s.draw.between(1, 2));
}

// Products of matrices, row by row, or of all rows with one matrix.
Id matrices(ProgramState& s, Id x) {
  const std::int64_t k = s.draw.between(2, 4);
  const Rows r(s, x, k * k);
  const Id one = s.g.index(1), n = s.g.index(k);
  const std::vector<Id> all{r.rows, n, n, n};
  if (r.value == no_id || s.elements(all) > s.most_elements * 10) return x;
  const Id left = widened(s, r.value, {r.rows, n, one, n}, all);
  const Id count = s.g.index(k * k);
  const Id other = s.draw.one_in(2) ? r.value : s.b.reshape(s.b.iota(s.g.dtype(r.value), count), std::vector{one, count});
  const Id right = widened(s, other, {s.b.shape_of(other)[0], one, n, n}, all);
  const std::int64_t axes[] = {3};
  return s.draw.one_in(3) ? s.b.reduce_dot(left, right, axes) : s.b.reduce_fma(left, right, axes);
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
  const auto product = [&](Id a, Id b) { return s.b.elementwise(Op::MUL, {a, b}); };
  const Id parts[] = {s.b.elementwise(Op::SUB, {product(re, re), product(im, im)}),
                      s.b.elementwise(Op::ADD, {product(re, im), product(im, re)})};
  return s.b.concat(parts, 1);
}

}  // namespace

std::vector<WeightedMaker> vector_makers() {
  return {{scaled, 1}, {attracted, 1}, {attracted_planes, 1}, {matrices, 1}, {complex, 1}};
}

}  // namespace kiln::compiler::testing
