// The P-level text of typical kernels.
#include "compiler/ir/text.h"
#include "compiler/lower/index_dtype.h"
#include "tests/golden/golden.h"
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

void expect_lowered(OneKernel& k, const std::string& name) {
  const LoweredKernel& l = k.lower();
  ASSERT_EQ(malformed(k.g, l.sink), "");
  const Id roots[] = {l.sink, l.trip_count};
  expect_golden("# alignment " + std::to_string(l.alignment) + (l.parallel ? ", parallel\n" : "\n") +
                    write_nodes(k.g, roots, {.locations = false}),
                name);
}

TEST(LowerGolden, Axpy) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int a = k.buffer(DType::f32, k.g.index(1)), x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  const Id product = k.op(Op::MUL, DType::f32, {k.load(a, k.g.index(0)), k.load(x, i)});
  k.store(y, i, k.op(Op::ADD, DType::f32, {product, k.load(y, i)}), {i});
  expect_lowered(k, "axpy");
}

TEST(LowerGolden, Chain) {
  OneKernel k;
  const Id n = k.symbol("N", 1 << 20, 16);
  const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  Id v = k.load(x, i);
  for (int s = 0; s < 6; ++s) v = k.op(s % 2 == 0 ? Op::MUL : Op::ADD, DType::f32, {v, v});
  k.store(y, i, v, {i});
  expect_lowered(k, "chain");
}

TEST(LowerGolden, HalfChain) {
  OneKernel k;
  const Id n = k.g.index(64);
  const int x = k.buffer(DType::f16, n), y = k.buffer(DType::f16, n);
  const Id i = k.range(n);
  Id v = k.load(x, i);
  v = k.op(Op::MUL, DType::f16, {v, v});
  k.store(y, i, k.op(Op::NEG, DType::f16, {k.op(Op::ADD, DType::f16, {v, k.load(x, i)})}), {i});
  expect_lowered(k, "half_chain");
}

void rows(OneKernel& k, ReduceKind kind, ReduceOrder order, DType result) {
  const Id m = k.symbol("M"), n = k.symbol("K", 65536);
  const int x = k.buffer(DType::f32, k.index(Op::MUL, m, n)), y = k.buffer(result, m);
  const Id i = k.range(m), r = k.reduce_range(n);
  k.store(y, i, k.reduce(kind, order, result, {k.load(x, k.at(i, n, r)), r}), {i});
}

TEST(LowerGolden, RowSum) {
  OneKernel k;
  rows(k, ReduceKind::sum, ReduceOrder::striped, DType::f32);
  expect_lowered(k, "row_sum");
}

TEST(LowerGolden, RowDot) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("K", 65536);
  const int a = k.buffer(DType::f32, k.index(Op::MUL, m, n)), x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, m);
  const Id i = k.range(m), r = k.reduce_range(n);
  const Id row = k.load(a, k.at(i, n, r)), element = k.load(x, r);
  k.store(y, i, k.reduce(ReduceKind::dot, ReduceOrder::striped, DType::f32, {row, element, r}), {i});
  expect_lowered(k, "row_dot");
}

TEST(LowerGolden, Argmax) {
  OneKernel k;
  rows(k, ReduceKind::argmax, ReduceOrder::sequential, DType::i64);
  expect_lowered(k, "argmax");
}

TEST(LowerGolden, Matmul) {
  OneKernel k;
  const Id m = k.g.index(64), n = k.g.index(32), depth = k.symbol("K");
  const int a = k.buffer(DType::f32, k.index(Op::MUL, m, depth)), b = k.buffer(DType::f32, k.index(Op::MUL, depth, n));
  const int c = k.buffer(DType::f32, k.g.index(64 * 32));
  const Id i = k.range(m), j = k.range(n), r = k.reduce_range(depth);
  const Id value = k.reduce(ReduceKind::fma, ReduceOrder::sequential, DType::f32,
                            {k.load(a, k.at(i, depth, r)), k.load(b, k.at(r, n, j)), r});
  k.store(c, k.at(i, n, j), value, {i, j});
  expect_lowered(k, "matmul");
}

// y[i, c] = x[i, c] / sqrt(sum of x[i, .]^2): rows become lanes, the sum is computed once for all components.
TEST(LowerGolden, NormalisedRows) {
  OneKernel k;
  const Id n = k.symbol("N"), three = k.g.index(3), size = k.index(Op::MUL, n, three);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(n), c = k.range(three), r = k.reduce_range(three);
  const Id component = k.load(x, k.at(i, three, r));
  const Id square = k.op(Op::MUL, DType::f32, {component, component});
  const Id sum = k.reduce(ReduceKind::sum, ReduceOrder::striped, DType::f32, {square, r});
  const Id at = k.at(i, three, c);
  k.store(y, at, k.op(Op::FDIV, DType::f32, {k.load(x, at), k.op(Op::SQRT, DType::f32, {sum})}), {i, c});
  expect_lowered(k, "normalised_rows");
}

// y[i, c] = c == 0 ? -x[i, 1] : x[i, 0]: each component is one case.
TEST(LowerGolden, TurnedNumbers) {
  OneKernel k;
  const Id n = k.symbol("N"), two = k.g.index(2), size = k.index(Op::MUL, n, two);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(n), c = k.range(two);
  const Id re = k.load(x, k.at(i, two, k.g.index(0))), im = k.load(x, k.at(i, two, k.g.index(1)));
  const Id first = k.op(Op::LT, DType::boolean, {c, k.g.index(1)});
  k.store(y, k.at(i, two, c), k.op(Op::WHERE, DType::f32, {first, k.op(Op::NEG, DType::f32, {im}), re}), {i, c});
  expect_lowered(k, "turned_numbers");
}

TEST(LowerGolden, PaddedStencil) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  const Id left = k.index(Op::SUB, i, k.g.index(1));
  const Id inside = k.op(Op::LE, DType::boolean, {k.g.index(0), left});
  const Id poison = k.g.make(Op::WHERE, DType::index, {inside, left, k.g.make(Op::INVALID, DType::index, {})});
  const Id before = k.op(Op::WHERE, DType::f32, {inside, k.load(x, poison), k.f32(0)});
  k.store(y, i, k.op(Op::SUB, DType::f32, {k.load(x, i), before}), {i});
  expect_lowered(k, "padded_stencil");
}

// Lanes i..i+7 of y[i] = x[i mod M] + i, M at most 1000, N at most 2^31 - 8: the index of the gather and the position are i32.
TEST(LowerGolden, IndexDtype) {
  Graph g;
  Facts facts;
  facts.syms["N"] = {0, (std::int64_t{1} << 31) - 8, 8};
  facts.syms["M"] = {1, 1000, 1};
  const Id n = g.sym("N"), range = g.make(Op::RANGE, DType::index, {n}, {0, 0});
  const Id lanes = g.make(Op::RAMP, DType::index, {range}, {1}, {}, 8);
  const Id m = g.make(Op::BROADCAST, DType::index, {g.sym("M")}, {}, {}, 8);
  const Id x = g.make(Op::BUFFER, DType::f32, {}, {0}), y = g.make(Op::BUFFER, DType::f32, {}, {1});
  const Id read = g.make(Op::LOAD, DType::f32, {x, g.make(Op::FLOORMOD, DType::index, {lanes, m}, {}, {}, 8)}, {}, {}, 8);
  const Id sum = g.make(Op::ADD, DType::f32, {read, g.make(Op::CAST, DType::f32, {lanes}, {}, {}, 8)}, {}, {}, 8);
  const Id loop = g.make(Op::FOR, DType::none, {range, g.index(0), n, g.make(Op::STORE, DType::none, {y, lanes, sum})}, {0, 8});
  const Id before[] = {g.make(Op::SINK, DType::none, {loop})};
  const Id after[] = {index_dtype(g, before[0], facts, 32)};
  ASSERT_EQ(malformed(g, after[0]), "");
  expect_golden(
      "# before\n" + write_nodes(g, before, {.locations = false}) + "# after\n" + write_nodes(g, after, {.locations = false}),
      "index_dtype");
}

}  // namespace
}  // namespace kiln::compiler::testing
