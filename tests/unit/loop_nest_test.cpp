// Loops with borders: reads that leave a row are in the borders, and the interior reads contiguous vectors.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(LoopNest, PaddedStencilReadsNothingOutside) {
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
  const std::int64_t rows = 3, columns = 21;
  const Symbols symbols = {{"H", rows}, {"W", columns}};
  std::vector<Data> data = k.random_data(symbols, false);
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

// The pieces of a concatenation: a loop for each, without conditions.
TEST(LoopNest, PiecesHaveLoopsOfTheirOwn) {
  for (const bool rows_too : {false, true}) {
    OneKernel k;
    const Id a = k.symbol("A"), b = k.symbol("B"), all = k.index(Op::ADD, a, b), n = rows_too ? k.symbol("N") : k.g.index(1);
    const int x = k.buffer(DType::f32, k.index(Op::MUL, a, n)), y = k.buffer(DType::f32, k.index(Op::MUL, b, n));
    const int out = k.buffer(DType::f32, k.index(Op::MUL, all, n));
    const Id i = k.range(all), j = rows_too ? k.range(n) : k.g.index(0);
    const Id is_first = k.g.make(Op::LT, DType::boolean, {i, a}), is_second = k.g.make(Op::LE, DType::boolean, {a, i});
    const Id none = k.g.make(Op::INVALID, DType::index, {});
    const Id behind = k.index(Op::SUB, i, a), at_x = k.at(i, n, j), at_y = k.at(behind, n, j);
    const Id first = k.load(x, k.g.make(Op::WHERE, DType::index, {is_first, at_x, none}));
    const Id second = k.load(y, k.g.make(Op::WHERE, DType::index, {is_second, at_y, none}));
    const Id value = k.op(Op::WHERE, DType::f32, {is_first, first, second});
    k.store(out, k.at(i, n, j), value, rows_too ? std::vector<Id>{i, j} : std::vector<Id>{i});
    k.lower();
    EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
    const Id roots[] = {k.lowered.sink};
    EXPECT_TRUE(std::ranges::none_of(k.g.reachable(roots), [&](Id id) { return k.g.op(id) == Op::WHERE; }));
  }
}

// More pieces than the cuts that are always made, in rows: a cut that repeats no code is made too.
TEST(LoopNest, FortyPiecesHaveLoopsOfTheirOwn) {
  constexpr std::int64_t pieces = 40, columns = 24;
  OneKernel k;
  const int out = k.buffer(DType::f32, k.g.index(pieces * columns));
  const Id i = k.range(k.g.index(pieces)), j = k.range(k.g.index(columns));
  Id value = no_id;
  for (std::int64_t n = pieces; n-- > 0;) {
    const Id piece = k.load(k.buffer(DType::f32, k.g.index(pieces * columns)), k.at(i, k.g.index(columns), j));
    value = value == no_id
                ? piece
                : k.op(Op::WHERE, DType::f32, {k.g.make(Op::LT, DType::boolean, {i, k.g.index(n + 1)}), piece, value});
  }
  k.store(out, k.at(i, k.g.index(columns), j), value, {i, j});
  k.lower();
  EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
  const Id roots[] = {k.lowered.sink};
  EXPECT_TRUE(std::ranges::none_of(k.g.reachable(roots), [&](Id id) { return k.g.op(id) == Op::WHERE; }));
}

// The end of a constant row is as near as its begin, so the interior is between the two clamps.
TEST(LoopNest, ClampedReadsOfAConstantRowAreContiguous) {
  OneKernel k;
  const Id w = k.g.index(1000), last = k.g.index(999), zero = k.g.index(0), one = k.g.index(1);
  const int x = k.buffer(DType::f32, w), y = k.buffer(DType::f32, w);
  const Id j = k.range(w);
  const Id left = k.index(Op::MAX, zero, k.index(Op::SUB, j, one));
  const Id right = k.index(Op::MIN, k.index(Op::ADD, j, one), last);
  const Id first = k.load(x, left);
  k.store(y, j, k.op(Op::ADD, DType::f32, {first, k.load(x, right)}), {j});
  k.lower();
  bool gathers = false;
  for (const Id id : k.g.reachable(k.lowered.sink))
    gathers = gathers || (k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1 && k.g.op(k.g.src(id, 1)) != Op::RAMP);
  EXPECT_FALSE(gathers);
  k.expect_same({}, 64);
}

TEST(LoopNest, ClampedReadsAreContiguousInTheInterior) {
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
    for (std::int64_t columns : {1, 2, 3, 5, 17, 20, 36, 100})
      for (std::int64_t chunk : {0, 16}) k.expect_same({{"H", 3}, {"W", columns}}, chunk);
  }
}

// Pixels and channels of a row form one contiguous range between the borders, unless a value depends on one of them alone.
TEST(LoopNest, PixelsAndChannelsAreOneRangeInTheInterior) {
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
      for (const std::int64_t columns : {1, 2, 3, 4, 10, 27, 64})
        for (const std::int64_t chunk : {0, 8}) k.expect_same({{"H", 3}, {"W", columns}}, chunk);
    }
}

}  // namespace
}  // namespace kiln::compiler::testing
