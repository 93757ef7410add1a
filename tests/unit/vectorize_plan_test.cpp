// Which range of a kernel becomes lanes, and which one is unrolled.
#include "compiler/ir/scopes.h"
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

// One vector in front of the aligned ones may be masked.
TEST(VectorizePlan, AxpyIsVectorsBetweenAHeadAndATail) {
  OneKernel k;
  const Id n = k.symbol("N");
  make_axpy(k, n);
  const LoweredKernel& l = k.lower();
  EXPECT_EQ(l.trip_count, n);
  EXPECT_EQ(l.alignment, 16);
  EXPECT_TRUE(l.parallel);
  EXPECT_EQ(k.g.src(l.sink).size(), 3u);
  EXPECT_EQ(count(k.g, l.sink, Op::FMA), 0u);
  EXPECT_EQ(count(k.g, l.sink, Op::MUL, 16), 2u);
  for (std::int64_t extent : {0, 1, 7, 16, 17, 100, 128, 300})
    for (std::int64_t chunk : {0, 16, 48, 256}) k.expect_same({{"N", extent}}, chunk);
}

// The stores of whole vectors begin at a multiple of 32 bytes, if the loop is long.
TEST(VectorizePlan, StoresOfALongLoopAreAligned) {
  OneKernel k;
  make_axpy(k, k.symbol("N"));
  const LoweredKernel& l = k.lower();
  const Id loop = k.g.src(l.sink, 1), store = k.g.src(loop).back(), whole = loop_parts(k.g, loop).begin;
  const std::string misaligned = misalignment_of(k.g.slot(k.g.state(store)));
  for (std::int64_t begin : {0, 16, 48})
    for (std::int64_t past = 0; past < 64; past += 4) {
      const auto first_of = [&](std::int64_t n) {
        return index_at(k.g, whole, {{"$begin", begin}, {"$end", begin + n}, {misaligned, past}});
      };
      EXPECT_EQ((4 * first_of(1000) + past) % 32, 0) << begin << ' ' << past;
      EXPECT_LT(first_of(1000), begin + 8);
      EXPECT_EQ(first_of(100), begin) << "too short";
    }
}

// AVX2 cannot mask bytes, so the first store is not aligned.
TEST(VectorizePlan, KnownMultipleNeedsNoTail) {
  OneKernel k;
  const Id n = k.symbol("N", 1000, 64);
  const int x = k.buffer(DType::f32, n), y = k.buffer(DType::boolean, n);
  const Id i = k.range(n), value = k.load(x, i);
  k.store(y, i, k.op(Op::LT, DType::boolean, {value, k.f32(0.5f)}), {i});
  EXPECT_EQ(k.g.src(k.lower().sink).size(), 1u);
  k.expect_same({{"N", 192}}, 64);
}

TEST(VectorizePlan, ShortInnermostRangeIsUnrolledBesideLanes) {
  OneKernel k;
  const Id h = k.symbol("H"), w = k.symbol("W"), channels = k.g.index(3);
  const Id size = k.index(Op::MUL, k.index(Op::MUL, h, w), channels);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(h), j = k.range(w), c = k.range(channels);
  const Id left = k.index(Op::MAX, k.g.index(0), k.index(Op::SUB, j, k.g.index(2)));
  const Id shade = k.op(Op::CAST, DType::f32, {k.index(Op::ADD, j, c)});
  const Id sum = k.op(Op::ADD, DType::f32, {k.load(x, k.at(k.at(i, w, left), channels, c)), shade});
  k.store(y, k.at(k.at(i, w, j), channels, c), sum, {i, j, c});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::STORE), 9u);  // three channels in the low border, the interior and the rest
  for (std::int64_t columns : {1, 2, 3, 10, 27}) k.expect_same({{"H", 4}, {"W", columns}}, 2);
}

TEST(VectorizePlan, BackwardReadIsAContiguousLoad) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::i32, n), y = k.buffer(DType::i32, n);
  const Id i = k.range(n);
  const Id last = k.index(Op::SUB, n, k.g.index(1));
  k.store(y, i, k.load(x, k.index(Op::SUB, last, i)), {i});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::SHUFFLE, 16), 2u);  // one in each loop of whole vectors
  for (std::int64_t extent : {0, 1, 16, 37}) k.expect_same({{"N", extent}}, 16);
}

// Four rows of results share the components of a vector of points; the rows that are left load them again.
TEST(VectorizePlan, RowsShareComponents) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.g.index(64), four = k.g.index(4);
  const int x = k.buffer(DType::f32, m), p = k.buffer(DType::f32, k.g.index(256)),
            y = k.buffer(DType::f32, k.index(Op::MUL, m, n));
  const Id i = k.range(m), j = k.range(n), point = k.index(Op::MUL, j, four);
  const Id a = k.load(p, point), b = k.load(p, k.index(Op::ADD, point, k.g.index(2)));
  const Id difference = k.op(Op::SUB, DType::f32, {k.load(x, i), a});
  k.store(y, k.at(i, n, j), k.op(Op::MUL, DType::f32, {difference, b}), {i, j});
  k.lower();
  std::size_t whole = 0;
  const Id roots[] = {k.lowered.sink};
  for (const Id id : k.g.reachable(roots)) whole += k.g.op(id) == Op::STORE && k.g.src(id).size() == 3 ? 1 : 0;
  EXPECT_EQ(whole, 5u);  // of four rows, and of one
  for (std::int64_t rows : {0, 1, 3, 4, 7, 8}) k.expect_same({{"M", rows}}, 4);
}

// y[c, i] = x[i, c]
void make_planes(OneKernel& k, Id n, Id components) {
  const Id size = k.index(Op::MUL, n, components);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id c = k.range(components), i = k.range(n);
  k.store(y, k.at(c, n, i), k.load(x, k.at(i, components, c)), {c, i});
}

// The planes of the components are stored side by side, so that each row is loaded once.
TEST(VectorizePlan, PlanesShareTheRowsTheyComeFrom) {
  for (const std::int64_t components : {3, 5, 7}) {
    OneKernel k;
    const Id n = k.symbol("N"), all = k.g.index(components);
    make_planes(k, n, all);
    EXPECT_EQ(k.lower().trip_count, n) << components;
    EXPECT_GT(count(k.g, k.lowered.sink, Op::SHUFFLE, 8), 0u) << components;
    for (std::int64_t extent : {0, 1, 7, 8, 9, 37}) k.expect_same({{"N", extent}}, 8);
  }
}

// Longer rows fill tiles, and chunks are of planes.
TEST(VectorizePlan, PlanesOfLongRowsAreTransposed) {
  OneKernel k;
  const Id n = k.symbol("N"), all = k.g.index(8);
  make_planes(k, n, all);
  EXPECT_EQ(k.lower().trip_count, all);
  for (std::int64_t extent : {0, 1, 8, 37}) k.expect_same({{"N", extent}}, 8);
}

// The planes of the components share the loads of the rows. Their stores are contiguous.
TEST(VectorizePlan, PlanesShareComponents) {
  OneKernel k;
  const Id n = k.symbol("N"), three = k.g.index(3);
  make_planes(k, n, three);
  k.lower();
  std::size_t loads = 0, stores = 0;  // of whole vectors of all components
  const Id roots[] = {k.lowered.sink};
  for (const Id id : k.g.reachable(roots)) {
    loads += k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1 && k.g.src(id).size() == 2 ? 1 : 0;
    stores += k.g.op(id) == Op::STORE && k.g.src(id).size() == 3 && k.g.lanes(k.g.src(id, 2)) > 1 ? 1 : 0;
  }
  EXPECT_EQ(loads, stores);
  for (std::int64_t rows : {0, 1, 7, 16, 17, 65}) k.expect_same({{"N", rows}}, 3);
}

// The sum of 1024 rows of `columns` elements, with accumulators in memory: several rows at a time, whether they fit a cache or
// not.
TEST(VectorizePlan, RowsAreReadTogether) {
  for (const std::int64_t columns : {128, 512}) {
    OneKernel k;
    const Id rows = k.g.index(1024), n = k.g.index(columns);
    const int x = k.buffer(DType::f32, k.index(Op::MUL, rows, n)), y = k.buffer(DType::f32, n);
    const Id j = k.range(n), r = k.reduce_range(rows);
    k.store(y, j, k.reduce(ReduceKind::sum, ReduceOrder::sequential, DType::f32, {k.load(x, k.at(r, n, j)), r}), {j});
    k.lower();
    std::int64_t step = 0;
    const Id roots[] = {k.lowered.sink};
    for (const Id id : k.g.reachable(roots))
      if (k.g.op(id) == Op::FOR && k.g.is_const(k.g.src(id, 2)) && k.g.value(k.g.src(id, 2)) == 1024) step = k.g.arg(id, 1);
    EXPECT_EQ(step, 8) << columns;
  }
}

TEST(VectorizePlan, TransposeGathers) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N");
  const Id size = k.index(Op::MUL, m, n);
  const int x = k.buffer(DType::f64, size), y = k.buffer(DType::f64, size);
  const Id i = k.range(m), j = k.range(n);
  k.store(y, k.at(i, n, j), k.load(x, k.at(j, m, i)), {i, j});
  for (std::int64_t rows : {1, 5})
    for (std::int64_t columns : {3, 8, 13}) k.expect_same({{"M", rows}, {"N", columns}}, 2);
}

// Copies y[first of y, second, piece] = x[the same, but for one pair of ranges that change places], with loops in the order of
// `x` or of `y`.
void expect_blocks_of_pieces(bool in_order_of_x, std::int64_t m, std::int64_t n, std::int64_t width) {
  OneKernel k;
  const Id rows = k.g.index(m), columns = k.g.index(n), piece = k.g.index(width), size = k.g.index(m * n * width);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id r = k.range(in_order_of_x ? rows : columns), c = k.range(in_order_of_x ? columns : rows), lane = k.range(piece);
  const Id row = in_order_of_x ? r : c, column = in_order_of_x ? c : r;
  const Id from = k.at(k.at(row, columns, column), piece, lane), to = k.at(k.at(column, rows, row), piece, lane);
  k.store(y, to, k.load(x, from), {r, c, lane});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::STORE), 9u);  // of eight rows, and of the row that is left
  for (const std::int64_t chunk : {16, 500}) k.expect_same({}, chunk);
}

// In the order of the loops, neighbouring pieces would be a whole row apart, in `y` or in `x`. Eight pieces that are neighbours
// in `y` are one iteration, and blocks of 16 of them come before the next pieces of `x`.
TEST(VectorizePlan, PiecesAreCopiedInBlocks) {
  expect_blocks_of_pieces(true, 65, 5, 16);
  expect_blocks_of_pieces(true, 257, 5, 4);
  expect_blocks_of_pieces(false, 17, 65, 16);
  expect_blocks_of_pieces(false, 17, 513, 2);
}

// Each operation waits for the one before it, so four vectors run side by side. The tail has one.
TEST(VectorizePlan, ChainsOfALongBodyRunSideBySide) {
  OneKernel k;
  const int x = k.buffer(DType::f32, k.symbol("N"));
  const Id i = k.range(k.g.sym("N")), element = k.load(x, i);
  Id v = element;
  for (int step = 0; step < 40; ++step) v = k.op(step % 2 == 0 ? Op::ADD : Op::MUL, DType::f32, {v, element});
  k.store(x, i, v, {i});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 32), 20u);
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 8), 20u);
  for (std::int64_t n : {0, 1, 7, 8, 31, 32, 33, 61, 100}) k.expect_same({{"N", n}}, 32);
}

// 20 values are needed at the end, so fewer vectors run side by side than in a chain of one value.
TEST(VectorizePlan, ManyValuesOfALongBodyHaveFewerVectors) {
  OneKernel k;
  const int x = k.buffer(DType::f32, k.symbol("N"));
  const Id i = k.range(k.g.sym("N")), element = k.load(x, i);
  std::vector<Id> powers{element};
  while (powers.size() < 20) powers.push_back(k.op(Op::MUL, DType::f32, {powers.back(), element}));
  Id v = powers.back();
  for (std::size_t p = powers.size() - 1; p-- > 0;) v = k.op(Op::ADD, DType::f32, {v, powers[p]});
  k.store(x, i, v, {i});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 32), 0u);
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 16), 19u);
  for (std::int64_t n : {0, 1, 7, 8, 15, 16, 17, 40}) k.expect_same({{"N", n}}, 16);
}

// The columns of a small product are lanes, also if the last vector of a row is not full. The rows would need more vectors.
TEST(VectorizePlan, ColumnsOfSmallProductsAreLanes) {
  for (const std::int64_t n : {6, 9, 10, 12, 14}) {
    OneKernel k;
    const Id extent = k.g.index(n), size = k.g.index(3 * n * n);
    const int x = k.buffer(DType::f32, size), w = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
    const Id b = k.range(k.g.index(3)), i = k.range(extent), j = k.range(extent), r = k.reduce_range(extent);
    const auto at = [&](Id row, Id column) { return k.at(k.at(b, extent, row), extent, column); };
    const Id left = k.load(x, at(i, r)), right = k.load(w, at(r, j));
    const Id sum = k.reduce(ReduceKind::fma, ReduceOrder::sequential, DType::f32, {left, right, r});
    k.store(y, at(i, j), sum, {b, i, j});
    k.lower();
    for (const Id id : k.g.reachable(k.lowered.sink))
      if (k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1) {
        EXPECT_EQ(k.g.slot(k.g.state(id)), w) << n;
      }
    k.expect_same({});
  }
}

// Neighbours at half or a quarter of the range are near each other, also where an index is clamped at the ends.
TEST(VectorizePlan, QuotientsAreClampedAtTheEndsOnly) {
  for (const std::int64_t factor : {2, 4})
    for (const std::int64_t shift : {-1, 1, 2}) {
      OneKernel k;
      const Id n = k.g.index(64), wide = k.g.index(64 * factor);
      const int x = k.buffer(DType::f32, k.g.index(5 * 64)), y = k.buffer(DType::f32, k.g.index(5 * 64 * factor));
      const Id row = k.range(k.g.index(5)), i = k.range(wide), moved = k.index(Op::ADD, i, k.g.index(shift));
      const Id place = k.index(Op::FLOORDIV, moved, k.g.index(factor));
      const Id inside = k.index(Op::MAX, k.index(Op::MIN, place, k.g.index(63)), k.g.index(0));
      k.store(y, k.at(row, wide, i), k.load(x, k.at(row, n, inside)), {row, i});
      k.lower();
      for (const Id id : k.g.reachable(k.lowered.sink))
        if (k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1) {
          EXPECT_EQ(k.g.op(k.g.src(id, 1)), Op::RAMP) << factor << ' ' << shift;
        }
      k.expect_same({});
    }
}

// A sum of many elements needs the registers for them.
TEST(VectorizePlan, LongBodyOfManyLoadsHasOneVector) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int y = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  Id v = k.f32(0);
  for (int step = 0; step < 40; ++step) v = k.op(Op::ADD, DType::f32, {v, k.load(k.buffer(DType::f32, n), i)});
  k.store(y, i, v, {i});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 32), 0u);
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 8), 80u);  // in the loop, and under a mask
  for (std::int64_t extent : {0, 1, 9, 37}) k.expect_same({{"N", extent}}, 8);
}

TEST(VectorizePlan, LongChainIsLinear) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  Id v = k.load(x, i);
  for (int step = 0; step < 100000; ++step) v = k.op(step % 2 == 0 ? Op::ADD : Op::MUL, DType::f32, {v, k.load(x, i)});
  k.store(x, i, v, {i});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::ADD, 8), 50000u);
}

}  // namespace
}  // namespace kiln::compiler::testing
