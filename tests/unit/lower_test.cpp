// Shapes of loops and elementwise kernels.
#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/lower/estimate_work.h"
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

std::size_t count(const Graph& g, Id root, Op op, int lanes = 0) {
  const Id roots[] = {root};
  const auto nodes = g.reachable(roots);
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes, [&](Id id) { return g.op(id) == op && (lanes == 0 || g.lanes(id) == lanes); }));
}

void make_axpy(OneKernel& k, Id n) {
  const int a = k.buffer(DType::f32, k.g.index(1)), x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  const Id product = k.op(Op::MUL, DType::f32, {k.load(a, k.g.index(0)), k.load(x, i)});
  k.store(y, i, k.op(Op::ADD, DType::f32, {product, k.load(y, i)}), {i});
}

TEST(Lower, AxpyIsVectorsAndATail) {
  OneKernel k;
  const Id n = k.symbol("N");
  make_axpy(k, n);
  const LoweredKernel& l = k.lower();
  EXPECT_EQ(l.trip_count, n);
  EXPECT_EQ(l.alignment, 16);
  EXPECT_TRUE(l.parallel);
  EXPECT_EQ(k.g.src(l.sink).size(), 2u);
  EXPECT_EQ(count(k.g, l.sink, Op::FMA), 0u);
  EXPECT_EQ(count(k.g, l.sink, Op::MUL, 16), 1u);
  std::mt19937 random(1);
  for (std::int64_t extent : {0, 1, 7, 16, 17, 100})
    for (std::int64_t chunk : {0, 16, 48}) k.expect_same({{"N", extent}}, random, chunk);
}

TEST(Lower, KnownMultipleNeedsNoTail) {
  OneKernel k;
  make_axpy(k, k.symbol("N", 1000, 32));
  EXPECT_EQ(k.g.src(k.lower().sink).size(), 1u);
  std::mt19937 random(2);
  k.expect_same({{"N", 96}}, random, 32);
}

TEST(Lower, WorkIsAnExpressionOfTheExtents) {
  OneKernel k;
  make_axpy(k, k.symbol("N"));
  const Id work = k.lower().work;
  const std::int64_t small = index_at(k.g, work, {{"N", 10}}), large = index_at(k.g, work, {{"N", 1010}});
  EXPECT_GE(large - small, 1000 * 4);
  EXPECT_LE(large - small, 1000 * 40);
}

TEST(Lower, UnitRangesDisappear) {
  OneKernel k;
  const Id one = k.g.index(1);
  const int x = k.buffer(DType::f32, one);
  const Id i = k.range(one);
  k.store(x, i, k.op(Op::NEG, DType::f32, {k.load(x, i)}), {i});
  const LoweredKernel& l = k.lower();
  EXPECT_TRUE(k.g.is_index_const(l.trip_count, 1));
  EXPECT_EQ(count(k.g, l.sink, Op::FOR), 1u);
  std::mt19937 random(3);
  k.expect_same({}, random);
}

TEST(Lower, PaddedStencilReadsNothingOutside) {
  OneKernel k;
  const Id h = k.symbol("H"), w = k.symbol("W");
  const Id size = k.index(Op::MUL, h, w);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(h), j = k.range(w);
  Id sum = k.f32(0);
  for (std::int64_t d : {-1, 0, 1}) {
    const Id jj = k.index(Op::ADD, j, k.g.index(d));
    const Id low = k.g.make(Op::LE, DType::boolean, {k.g.index(0), jj}), high = k.g.make(Op::LT, DType::boolean, {jj, w});
    const Id inside = k.op(Op::AND, DType::boolean, {low, high});
    const Id poison = k.g.make(Op::WHERE, DType::index, {inside, k.at(i, w, jj), k.g.make(Op::INVALID, DType::index, {})});
    sum = k.op(Op::ADD, DType::f32, {sum, k.op(Op::WHERE, DType::f32, {inside, k.load(x, poison), k.f32(0.5f)})});
  }
  k.store(y, k.at(i, w, j), sum, {i, j});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::INVALID), 0u);
  EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
  // The evaluator of kernels does not know INVALID, so the expected values are computed here.
  std::mt19937 random(4);
  const std::int64_t rows = 3, columns = 21;
  const Symbols symbols = {{"H", rows}, {"W", columns}};
  std::vector<Data> data = k.random_data(symbols, random, false);
  const Data in = data[0];
  run_lowered(k.g, k.lowered, symbols, data, 1);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      float expected = 0;
      for (std::int64_t d : {-1, 0, 1})
        expected +=
            c + d < 0 || c + d >= columns ? 0.5f : static_cast<float>(in[static_cast<std::size_t>(r * columns + c + d)].f);
      EXPECT_EQ(data[1][static_cast<std::size_t>(r * columns + c)].f, static_cast<double>(expected)) << r << ' ' << c;
    }
}

TEST(Lower, ClampedReadsAreContiguousInTheInterior) {
  for (const bool rows_too : {false, true}) {
    OneKernel k;
    const Id h = k.symbol("H"), w = k.symbol("W");
    const Id size = k.index(Op::MUL, h, w);
    const int x = k.buffer(DType::f32, rows_too ? size : w), y = k.buffer(DType::f32, rows_too ? size : w);
    const Id j = k.range(w), i = rows_too ? k.range(h) : k.g.index(0);
    Id sum = k.f32(0);
    for (std::int64_t d = -2; d <= 2; ++d) {
      const Id last = k.index(Op::SUB, w, k.g.index(1));
      const Id jj = k.index(Op::MAX, k.g.index(0), k.index(Op::MIN, k.index(Op::ADD, j, k.g.index(d)), last));
      sum = k.op(Op::ADD, DType::f32, {sum, k.load(x, k.at(i, w, jj))});
    }
    std::vector<Id> loops = {j};
    if (rows_too) loops.insert(loops.begin(), i);
    k.store(y, k.at(i, w, j), sum, loops);
    k.lower();
    bool gathers = false;
    const Id roots[] = {k.lowered.sink};
    for (Id id : k.g.reachable(roots))
      gathers = gathers || (k.g.op(id) == Op::LOAD && k.g.lanes(id) == 16 && k.g.op(k.g.src(id, 1)) != Op::RAMP);
    EXPECT_FALSE(gathers);
    std::mt19937 random(7);
    for (std::int64_t columns : {1, 2, 3, 5, 17, 20, 36, 100})
      for (std::int64_t chunk : {0, 16}) k.expect_same({{"H", 3}, {"W", columns}}, random, chunk);
  }
}

TEST(Lower, BackwardReadIsAContiguousLoad) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::i32, n), y = k.buffer(DType::i32, n);
  const Id i = k.range(n);
  const Id last = k.index(Op::SUB, n, k.g.index(1));
  k.store(y, i, k.load(x, k.index(Op::SUB, last, i)), {i});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::SHUFFLE, 16), 1u);
  std::mt19937 random(5);
  for (std::int64_t extent : {0, 1, 16, 37}) k.expect_same({{"N", extent}}, random, 16);
}

TEST(Lower, InterleavedChannelsAreOneLoop) {
  OneKernel k;
  const Id h = k.symbol("H"), w = k.symbol("W"), channels = k.g.index(3);
  const Id size = k.index(Op::MUL, k.index(Op::MUL, h, w), channels);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(h), j = k.range(w), c = k.range(channels);
  const Id at = k.at(k.at(i, w, j), channels, c);
  k.store(y, at, k.op(Op::MUL, DType::f32, {k.load(x, at), k.f32(2)}), {i, j, c});
  k.lower();
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::FOR), 2u);  // whole steps, and the rest
  EXPECT_EQ(k.lowered.alignment, 16);
  std::mt19937 random(8);
  for (std::int64_t columns : {0, 1, 5, 11}) k.expect_same({{"H", 4}, {"W", columns}}, random, 16);
}

// Pixels and channels of a row form one contiguous range between the borders, unless a value depends on one of them alone.
TEST(Lower, PixelsAndChannelsAreOneRangeInTheInterior) {
  enum class Also { nothing, weight_of_channel, channel, pixel };
  for (const Also also : {Also::nothing, Also::weight_of_channel, Also::channel, Also::pixel})
    for (const bool rows : {true, false}) {
      OneKernel k;
      const Id h = rows ? k.symbol("H") : k.g.index(1), w = k.symbol("W"), channels = k.g.index(3);
      const Id size = k.index(Op::MUL, k.index(Op::MUL, h, w), channels);
      const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size), weights = k.buffer(DType::f32, channels);
      const Id i = rows ? k.range(h) : k.g.index(0), j = k.range(w), c = k.range(channels);
      const Id left = k.index(Op::MAX, k.g.index(0), k.index(Op::SUB, j, k.g.index(2)));
      const Id right = k.index(Op::MIN, k.index(Op::ADD, j, k.g.index(1)), k.index(Op::SUB, w, k.g.index(1)));
      Id value = k.op(Op::MUL, DType::f32,
                      {k.load(x, k.at(k.at(i, w, left), channels, c)), k.load(x, k.at(k.at(i, w, right), channels, c))});
      if (also == Also::weight_of_channel) value = k.op(Op::ADD, DType::f32, {value, k.load(weights, c)});
      if (also == Also::channel) value = k.op(Op::ADD, DType::f32, {value, k.op(Op::CAST, DType::f32, {c})});
      if (also == Also::pixel) value = k.op(Op::ADD, DType::f32, {value, k.op(Op::CAST, DType::f32, {j})});
      k.store(y, k.at(k.at(i, w, j), channels, c), value, rows ? std::vector{i, j, c} : std::vector{j, c});
      k.lower();
      std::size_t contiguous = 0, shuffles = 0;
      const Id roots[] = {k.lowered.sink};
      for (const Id id : k.g.reachable(roots)) {
        if (k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1 && k.g.op(k.g.src(id, 1)) == Op::RAMP)
          contiguous += k.g.arg(k.g.src(id, 1), 0) == 1 ? 1 : 0;
        shuffles += k.g.op(id) == Op::SHUFFLE ? 1 : 0;
      }
      EXPECT_EQ(contiguous == 2 && shuffles == 0, also == Also::nothing);
      std::mt19937 random(13);
      for (const std::int64_t columns : {1, 2, 3, 4, 10, 27, 64})
        for (const std::int64_t chunk : {0, 8}) k.expect_same({{"H", 3}, {"W", columns}}, random, chunk);
    }
}

TEST(Lower, ShortInnermostRangeIsUnrolledBesideLanes) {
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
  std::mt19937 random(11);
  for (std::int64_t columns : {1, 2, 3, 10, 27}) k.expect_same({{"H", 4}, {"W", columns}}, random, 2);
}

TEST(Lower, BroadcastRowIsNotMerged) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N");
  const Id size = k.index(Op::MUL, m, n);
  const int x = k.buffer(DType::f32, size), b = k.buffer(DType::f32, n), y = k.buffer(DType::f32, size);
  const Id i = k.range(m), j = k.range(n);
  k.store(y, k.at(i, n, j), k.op(Op::ADD, DType::f32, {k.load(x, k.at(i, n, j)), k.load(b, j)}), {i, j});
  EXPECT_EQ(k.lower().trip_count, m);
  std::mt19937 random(9);
  for (std::int64_t columns : {1, 16, 21}) k.expect_same({{"M", 4}, {"N", columns}}, random, 2);
}

TEST(Lower, PositionsBecomeFloatsWithoutWideConversions) {
  for (std::int64_t max : {std::int64_t{1000}, std::int64_t{1} << 40}) {
    OneKernel k;
    const Id n = k.symbol("N", max);
    const int y = k.buffer(DType::f32, n);
    const Id i = k.range(n);
    k.store(y, i, k.op(Op::CAST, DType::f32, {k.index(Op::SUB, k.index(Op::MUL, i, k.g.index(3)), k.g.index(5))}), {i});
    k.lower();
    const Id roots[] = {k.lowered.sink};
    for (Id id : k.g.reachable(roots))
      EXPECT_FALSE(k.g.op(id) == Op::CAST && k.g.lanes(id) > 1 && k.g.dtype(k.g.src(id, 0)) == DType::index);
    std::mt19937 random(10);
    for (std::int64_t extent : {1, 16, 100}) k.expect_same({{"N", extent}}, random, 16);
  }
}

TEST(Lower, TranscendentalsBecomeBasicOperations) {
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (Op op : {Op::EXP, Op::LOG, Op::SIN, Op::TANH, Op::ERF, Op::RSQRT}) {
      OneKernel k;
      const Id n = k.symbol("N");
      const int x = k.buffer(d, n), y = k.buffer(d, n);
      const Id i = k.range(n);
      k.store(y, i, k.op(op, d, {k.load(x, i)}), {i});
      k.lower();
      EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
    }
}

TEST(Lower, TransposeGathers) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N");
  const Id size = k.index(Op::MUL, m, n);
  const int x = k.buffer(DType::f64, size), y = k.buffer(DType::f64, size);
  const Id i = k.range(m), j = k.range(n);
  k.store(y, k.at(i, n, j), k.load(x, k.at(j, m, i)), {i, j});
  std::mt19937 random(6);
  for (std::int64_t rows : {1, 5})
    for (std::int64_t columns : {3, 8, 13}) k.expect_same({{"M", rows}, {"N", columns}}, random, 2);
}

TEST(Lower, HalfArithmeticIsSingleArithmetic) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f16, n);
  const Id i = k.range(n);
  Id v = k.load(x, i);
  v = k.op(Op::MUL, DType::f16, {v, v});
  v = k.op(Op::NEG, DType::f16, {k.op(Op::ADD, DType::f16, {v, k.load(x, i)})});
  const Id small = k.op(Op::LT, DType::boolean, {v, k.load(x, i)});
  k.store(x, i, k.op(Op::WHERE, DType::f16, {small, v, k.load(x, i)}), {i});
  k.lower();
  EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::NEG), 0u);
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::MUL, 16), 1u);
}

TEST(Lower, LongChainIsLinear) {
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

// The estimate must be an expression that the manifest can contain.
TEST(Lower, WorkOfLoopsThatDataEnds) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  const Id most = k.g.index((std::int64_t{1} << 31) - 1);  // indices of i32 stay below this
  const Id j = k.range(most), l = k.range(most), m = k.range(k.g.index(16));
  const Id sum = k.op(Op::ADD, DType::f32, {k.load(x, j), k.load(x, l)});
  k.store(x, i, k.op(Op::ADD, DType::f32, {sum, k.load(x, m)}), {i, j, l, m});
  const Id roots[] = {k.ends[0]};
  const Id sink = k.g.make(Op::SINK, DType::none, roots);
  EXPECT_NO_THROW(index_canonical(k.g, estimate_work(k.g, sink)));
}

}  // namespace
}  // namespace kiln::compiler::testing
