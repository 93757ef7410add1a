// Makers for transformations of large tensors only: reductions that are split into stages, packed operands of matrix products,
// rows longer than a block of a striped reduction.
#include <utility>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/typing.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

std::vector<Id> extents(ProgramState& s, std::initializer_list<int> numbers) {
  std::vector<Id> out;
  for (const int n : numbers) out.push_back(s.g.index(n));
  return out;
}

Id scaled(ProgramState& s, Id x) {
  if (s.g.dtype(x) == DType::boolean || s.draw.one_in(2)) return x;
  const Op op = s.draw.of(std::array{Op::MUL, Op::ADD, Op::MAX});
  return s.b.elementwise(op, {x, s.special(s.g.dtype(x))});
}

Id reduced(ProgramState& s, Id x, std::vector<std::int64_t> axes) {
  static constexpr ReduceKind kinds[] = {ReduceKind::sum,    ReduceKind::sum, ReduceKind::prod,
                                         ReduceKind::max,    ReduceKind::min, ReduceKind::any,
                                         ReduceKind::argmax, ReduceKind::fma, ReduceKind::dot};
  const ReduceKind kind = s.draw.of(kinds);
  if (kind == ReduceKind::argmax) return s.b.reduce(kind, x, std::array{axes.back()});
  if (kind == ReduceKind::any) return s.b.reduce(kind, s.as(x, DType::boolean), axes);
  if (s.g.dtype(x) == DType::boolean) x = s.as(x, DType::i32);
  if (kind == ReduceKind::dot) {
    const std::vector<Id> all{index_product(s.g, s.b.shape_of(x))};
    const Id line = s.b.reshape(x, all);
    return s.b.reduce_dot(line, s.draw.one_in(2) ? line : scaled(s, line), std::array{std::int64_t{0}});
  }
  return kind == ReduceKind::fma ? s.b.reduce_fma(x, x, axes) : s.b.reduce(kind, x, axes);
}

Id long_reduction(ProgramState& s, const ParameterMaker& parameter) {
  if (s.draw.one_in(2)) return reduced(s, scaled(s, parameter(extents(s, {s.draw.between(262'000, 600'000)}))), {0});
  const Id image = parameter(extents(s, {s.draw.between(15, 40), s.draw.between(9'000, 16'000)}));
  return reduced(s, scaled(s, image), {0, 1});
}

// [M, K] times [K, N], where the right operand is larger than a cache.
Id product(ProgramState& s, const ParameterMaker& parameter) {
  const int m = s.draw.between(30, 40), k = s.draw.between(250, 300), n = s.draw.of(std::array{255, 256, 256, 257, 272, 288});
  Id a = parameter(extents(s, {m, k}));
  Id b = parameter(extents(s, {k, n}));
  if (is_int(s.g.dtype(a)) && s.draw.one_in(2)) {
    a = small_integers(s, a);
    b = small_integers(s, b);
  }
  const DType d = s.g.dtype(a) == DType::boolean ? DType::f32 : s.g.dtype(a);
  const std::vector<Id> whole = extents(s, {m, n, k}), rows = extents(s, {m, 1, k});
  static constexpr std::int64_t swap[] = {1, 0};
  const Id left = s.b.expand(s.b.reshape(s.as(a, d), rows), whole);
  const Id right = s.b.broadcast_to(s.b.permute(s.as(b, d), swap), whole);
  return s.b.reduce_fma(left, right, std::array{std::int64_t{2}});
}

// [M, K] times [K], where the rows are longer than a block or than a few registers.
Id product_by_vector(ProgramState& s, const ParameterMaker& parameter) {
  const int m = s.draw.between(1, 5), k = s.draw.of(std::array{250, 1000, 65'535, 65'536, 65'537, 131'077});
  const Id a = parameter(extents(s, {m, k})), x = parameter(extents(s, {k}));
  const DType d = s.g.dtype(a) == DType::boolean ? DType::f32 : s.g.dtype(a);
  const Id rows = s.as(a, d), vector = s.as(x, d);
  return s.b.reduce_dot(rows, vector, std::array{std::int64_t{1}});
}

// Each row minus, or divided by, its reduction.
Id long_rows(ProgramState& s, const ParameterMaker& parameter) {
  Id x = parameter(extents(s, {s.draw.between(1, 3), s.draw.of(std::array{4096, 5000, 65536, 66'000, 131'073})}));
  if (!is_float(s.g.dtype(x))) x = s.as(x, DType::f32);
  std::vector<Id> kept = s.b.shape_of(x);
  kept[1] = s.g.index(1);
  const std::array<std::int64_t, 1> last{1};
  const Id most = s.b.reshape(s.b.reduce(ReduceKind::max, x, last), kept);
  x = s.b.elementwise(Op::SUB, {x, most});
  if (s.draw.one_in(2)) x = s.b.elementwise(Op::EXP, {x});
  return s.b.elementwise(Op::FDIV, {x, s.b.reshape(s.b.reduce(ReduceKind::sum, x, last), kept)});
}

// Windows over rows that are long enough for a copy of the padded input.
Id long_windows(ProgramState& s, const ParameterMaker& parameter) {
  const Id x = parameter(extents(s, {s.draw.between(5, 9), s.draw.between(600, 3000)}));  // a window spans at most 5
  const double most = std::exchange(s.most_elements, 100'000);
  const Id y = s.draw.one_in(4) ? pool(s, x) : convolve(s, x);
  s.most_elements = most;
  return y;
}

// Rows that are reduced to one, several at a time.
Id reduced_rows(ProgramState& s, const ParameterMaker& parameter) {
  const int columns = s.draw.of(std::array{64, 127, 128, 130, 300, 1000, 2050, 4500});
  Id x = parameter(extents(s, {s.draw.between(1, 3), s.draw.between(14, 60), columns}));
  const ReduceKind kind = s.draw.of(std::array{ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min,
                                               ReduceKind::any, ReduceKind::all, ReduceKind::argmin, ReduceKind::fma});
  const bool is_bool = kind == ReduceKind::any || kind == ReduceKind::all;
  if (is_bool != (s.g.dtype(x) == DType::boolean)) x = s.as(x, is_bool ? DType::boolean : DType::f32);
  if (kind == ReduceKind::fma) return s.b.reduce_fma(x, scaled(s, x), std::array{std::int64_t{1}});
  const Id y = s.b.reduce(kind, is_bool ? x : scaled(s, x), std::array{std::int64_t{1}});
  return is_bool ? y : scaled(s, y);
}

// All pairs of rows, reduced to a number each: distances of the rows of two matrices.
Id pairs_of_rows(ProgramState& s, const ParameterMaker& parameter) {
  const int m = s.draw.between(7, 20), n = s.draw.of(std::array{7, 8, 15, 16, 33, 64, 70, 300}), k = s.draw.between(1, 80);
  const Id a = parameter(extents(s, {m, k})), b = parameter(extents(s, {n, k}));
  const DType d = s.g.dtype(a) == DType::boolean ? DType::f32 : s.g.dtype(a);
  const std::vector<Id> whole = extents(s, {m, n, k}), rows = extents(s, {m, 1, k}), columns = extents(s, {1, n, k});
  const Id x = s.b.expand(s.b.reshape(s.as(a, d), rows), whole);
  const Id y = s.b.expand(s.b.reshape(s.as(b, d), columns), whole);
  Id v = s.b.elementwise(s.draw.of(std::array{Op::SUB, Op::MUL, Op::MIN}), {x, y});
  if (s.draw.one_in(2)) v = s.b.elementwise(Op::MUL, {v, v});
  static constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod,  ReduceKind::max,
                                         ReduceKind::min, ReduceKind::dot, ReduceKind::argmin};
  const ReduceKind kind = s.draw.of(kinds);
  static constexpr std::int64_t last[] = {2};
  return scaled(s, kind == ReduceKind::dot ? s.b.reduce_dot(x, v, last) : s.b.reduce(kind, v, last));
}

}  // namespace

Id large_value(ProgramState& s, const ParameterMaker& parameter) {
  static constexpr auto makers =
      std::array{long_reduction, product, product_by_vector, long_rows, long_windows, reduced_rows, pairs_of_rows};
  return s.draw.of(makers)(s, parameter);
}

}  // namespace kiln::compiler::testing
