// Ranges of a kernel that become one range, and ranges that stay.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(MergeRanges, InterleavedChannelsAreOneLoop) {
  OneKernel k;
  const Id h = k.symbol("H"), w = k.symbol("W"), channels = k.g.index(3);
  const Id size = k.index(Op::MUL, k.index(Op::MUL, h, w), channels);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(h), j = k.range(w), c = k.range(channels);
  const Id at = k.at(k.at(i, w, j), channels, c);
  k.store(y, at, k.op(Op::MUL, DType::f32, {k.load(x, at), k.f32(2)}), {i, j, c});
  k.lower();
  // The part before the aligned stores, whole steps past the caches, whole steps, and the rest.
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::FOR), 4u);
  EXPECT_EQ(k.lowered.alignment, 16);
  for (std::int64_t columns : {0, 1, 5, 11}) k.expect_same({{"H", 4}, {"W", columns}}, 16);
}

TEST(MergeRanges, BroadcastRowIsNotMerged) {
  OneKernel k;
  const Id m = k.symbol("M"), n = k.symbol("N");
  const Id size = k.index(Op::MUL, m, n);
  const int x = k.buffer(DType::f32, size), b = k.buffer(DType::f32, n), y = k.buffer(DType::f32, size);
  const Id i = k.range(m), j = k.range(n);
  k.store(y, k.at(i, n, j), k.op(Op::ADD, DType::f32, {k.load(x, k.at(i, n, j)), k.load(b, j)}), {i, j});
  EXPECT_EQ(k.lower().trip_count, m);
  for (std::int64_t columns : {1, 16, 21}) k.expect_same({{"M", 4}, {"N", columns}}, 2);
}

}  // namespace
}  // namespace kiln::compiler::testing
