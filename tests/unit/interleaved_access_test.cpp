// Strided accesses of vectors that become contiguous vectors and shuffles.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(InterleavedAccess, PairsAreContiguousLoads) {
  OneKernel k;
  const Id n = k.symbol("N"), two = k.g.index(2);
  const int x = k.buffer(DType::f32, k.index(Op::MUL, n, two)), y = k.buffer(DType::f32, n);
  const Id i = k.range(n), even = k.index(Op::MUL, i, two), odd = k.index(Op::ADD, even, k.g.index(1));
  k.store(y, i, k.op(Op::ADD, DType::f32, {k.load(x, even), k.load(x, odd)}), {i});
  k.lower();
  // The even lanes and the odd lanes, of whole vectors past the caches, of other whole vectors, and under a mask; and the sums,
  // which lane_order brings into order.
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::SHUFFLE, 16), 9u);
  const Id roots[] = {k.lowered.sink};
  for (const Id id : k.g.reachable(roots))
    if (k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1) {
      EXPECT_EQ(k.g.arg(k.g.src(id, 1), 0), 1);
    }
  for (std::int64_t extent : {0, 1, 16, 37}) k.expect_same({{"N", extent}}, 16);
}

// The windows of a row with a step: the last element that the last lane needs is the last one in memory.
TEST(InterleavedAccess, MaskedWindowsEndAtTheirLastElement) {
  for (const std::int64_t step : {2, 3, 5})
    for (const std::int64_t window : {1, 2, 3}) {
      OneKernel k;
      const Id n = k.symbol("N");
      const Id last = k.index(Op::ADD, k.index(Op::MUL, n, k.g.index(step)), k.g.index(window - step));
      const int x = k.buffer(DType::f32, k.index(Op::MAX, last, k.g.index(0))), y = k.buffer(DType::f32, n);
      const Id i = k.range(n), at = k.index(Op::MUL, i, k.g.index(step));
      Id sum = k.load(x, at);
      for (std::int64_t w = 1; w < window; ++w)
        sum = k.op(Op::ADD, DType::f32, {sum, k.load(x, k.index(Op::ADD, at, k.g.index(w)))});
      k.store(y, i, sum, {i});
      k.lower();
      for (std::int64_t extent = 0; extent < 40; ++extent) k.expect_same({{"N", extent}}, 16);
    }
}

// Columns of rows of 49 elements: 5 of them are two groups of 4, which share 3 columns. A lone column is gathered.
TEST(InterleavedAccess, ColumnsOfLongRowsArePartsOfRows) {
  for (const std::int64_t columns : {3, 4, 5, 8}) {
    OneKernel k;
    const Id n = k.symbol("N"), row = k.g.index(49);
    const int x = k.buffer(DType::f32, k.index(Op::MUL, n, row)), y = k.buffer(DType::f32, n);
    const Id i = k.range(n), at = k.index(Op::MUL, i, row);
    Id sum = k.load(x, at);
    for (std::int64_t c = 1; c < columns; ++c)
      sum = k.op(Op::ADD, DType::f32, {sum, k.load(x, k.index(Op::ADD, at, k.g.index(c)))});
    k.store(y, i, sum, {i});
    k.lower();
    std::int64_t parts = 0, gathers = 0;
    const Id roots[] = {k.lowered.sink};
    for (const Id id : k.g.reachable(roots)) {
      if (k.g.op(id) != Op::LOAD || k.g.src(id).size() > 2) continue;
      parts += k.g.lanes(id) == 4 ? 1 : 0;
      gathers += k.g.lanes(id) > 4 ? 1 : 0;
    }
    const std::int64_t vectors = columns < 4 ? 0 : parts / (16 * ((columns + 3) / 4));  // of 16 rows
    EXPECT_EQ(parts, vectors * 16 * ((columns + 3) / 4));
    EXPECT_EQ(parts > 0, columns >= 4);
    EXPECT_EQ(gathers > 0, columns < 4);
    for (std::int64_t extent : {0, 1, 15, 16, 37}) k.expect_same({{"N", extent}}, 16);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
