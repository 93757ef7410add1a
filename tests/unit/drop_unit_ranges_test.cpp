// Ranges with one iteration.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(DropUnitRanges, UnitRangesDisappear) {
  OneKernel k;
  const Id one = k.g.index(1);
  const int x = k.buffer(DType::f32, one);
  const Id i = k.range(one);
  k.store(x, i, k.op(Op::NEG, DType::f32, {k.load(x, i)}), {i});
  const LoweredKernel& l = k.lower();
  EXPECT_TRUE(k.g.is_index_const(l.trip_count, 1));
  EXPECT_EQ(count(k.g, l.sink, Op::FOR), 1u);
  k.expect_same({});
}

}  // namespace
}  // namespace kiln::compiler::testing
