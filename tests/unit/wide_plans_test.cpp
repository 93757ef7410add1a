// Plans of products, windows and short rows for registers of 16 lanes, and for AVX2 beside them.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

const Target sixteen_registers = target_named("x86-64-v3"), wide_registers = target_named("x86-64-v4");

// y[i, j] = sum over r < 40 of x[i, r, j]
void make_sums(OneKernel& k, Id rows, std::int64_t columns) {
  const Id n = k.g.index(columns), length = k.g.index(40), size = k.index(Op::MUL, rows, n);
  const int x = k.buffer(DType::f32, k.index(Op::MUL, size, length)), y = k.buffer(DType::f32, size);
  const Id i = k.range(rows), j = k.range(n), r = k.reduce_range(length);
  const Id element = k.load(x, k.at(k.at(i, length, r), n, j));
  k.store(y, k.at(i, n, j), k.reduce(ReduceKind::sum, ReduceOrder::sequential, DType::f32, {element, r}), {i, j});
}

// c[i, j] = sum over r of a[i, r] * b[r, j], or of a[i, r] * b[j, r].
void make_product(OneKernel& k, std::int64_t rows, std::int64_t length, Id columns, bool transposed) {
  const Id m = k.g.index(rows), n = k.g.index(length);
  const int a = k.buffer(DType::f32, k.index(Op::MUL, m, n)), b = k.buffer(DType::f32, k.index(Op::MUL, n, columns)),
            c = k.buffer(DType::f32, k.index(Op::MUL, m, columns));
  const Id i = k.range(m), j = k.range(columns), r = k.reduce_range(n);
  const Id right = k.load(b, transposed ? k.at(j, n, r) : k.at(r, columns, j));
  const Id sum = k.reduce(ReduceKind::fma, ReduceOrder::sequential, DType::f32, {k.load(a, k.at(i, n, r)), right, r});
  k.store(c, k.at(i, columns, j), sum, {i, j});
}

// Rows of 5 to 7 elements are one vector of 8 lanes, half a register. Three elements are too few for lanes.
TEST(WidePlans, ShortRowsAreOneMaskedVector) {
  for (const std::int64_t columns : {3, 5, 7, 9, 15}) {
    const int lanes = columns < 5 ? 0 : columns < 8 ? 8 : 16;
    OneKernel k;
    k.target = wide_registers;
    make_sums(k, k.symbol("M"), columns);
    k.lower();
    for (const int n : {4, 8, 16}) EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, n) != 0, n == lanes) << columns;
    for (std::int64_t rows : {0, 1, 5}) k.expect_same({{"M", rows}}, 2);
  }
}

// The columns' operand is read once for up to 11 rows.
TEST(WidePlans, FewRowsHaveOnePass) {
  const auto accumulators = [](std::int64_t rows, const Target& target) {
    OneKernel k;
    k.target = target;
    make_product(k, rows, 130, k.g.index(768), false);
    k.lower();
    for (int i = 0; i < 2; ++i) k.expect_same({});
    std::size_t most = 0;
    const Id roots[] = {k.lowered.sink};
    for (const Id id : k.g.reachable(roots))
      if (k.g.op(id) == Op::FOR) most = std::max(most, static_cast<std::size_t>(k.g.slot(id)));
    return most;
  };
  EXPECT_EQ(accumulators(8, wide_registers), 8u);    // of 32 lanes
  EXPECT_EQ(accumulators(11, wide_registers), 11u);  // of 32 lanes
  EXPECT_EQ(accumulators(2, wide_registers), 24u);   // of 16 lanes
  EXPECT_EQ(accumulators(3, wide_registers), 24u);
  EXPECT_EQ(accumulators(4, wide_registers), 24u);
  EXPECT_EQ(accumulators(12, wide_registers), 6u);    // of 64 lanes
  EXPECT_EQ(accumulators(8, sixteen_registers), 4u);  // of 16 lanes
}

// Two chains side by side use the time in which a multiply-add waits for the one before.
TEST(WidePlans, TransposedTilesOfFewRowsAreSideBySide) {
  const auto vectors = [](std::int64_t rows, std::int64_t length, const Target& target) {
    OneKernel k;
    k.target = target;
    make_product(k, rows, length, k.g.index(75), true);
    k.lower();
    k.expect_same({});
    std::size_t most = 0;
    const Id roots[] = {k.lowered.sink};
    for (const Id id : k.g.reachable(roots))
      if (k.g.op(id) == Op::FOR) most = std::max(most, static_cast<std::size_t>(k.g.slot(id)));
    return most;
  };
  EXPECT_EQ(vectors(1, 130, wide_registers), 2u);
  EXPECT_EQ(vectors(2, 130, wide_registers), 4u);
  EXPECT_EQ(vectors(4, 130, wide_registers), 4u);  // the work of four rows fills the time
  EXPECT_EQ(vectors(1, 100, wide_registers), 1u);  // short chains overlap in any case
  EXPECT_EQ(vectors(1, 100, sixteen_registers), 2u);
}

// y[h, q] = x[2 * q + h]: both phases come from one pair of loads.
TEST(WidePlans, PhasesShareLoads) {
  OneKernel k;
  const Id rows = k.symbol("M"), two = k.g.index(2), columns = k.g.index(20), wide = k.g.index(40);
  const int x = k.buffer(DType::f32, k.index(Op::MUL, rows, wide)), y = k.buffer(DType::f32, k.index(Op::MUL, rows, wide));
  const Id i = k.range(rows), h = k.range(two), q = k.range(columns);
  k.store(y, k.at(k.at(i, two, h), columns, q), k.load(x, k.at(i, wide, k.at(q, two, h))), {i, h, q});
  k.target = wide_registers;
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::LOAD), 4u);
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::STORE), 4u);
  for (std::int64_t n : {0, 1, 5}) k.expect_same({{"M", n}}, 2);
}

}  // namespace
}  // namespace kiln::compiler::testing
