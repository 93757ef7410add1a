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
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::SHUFFLE, 16), 2u);  // the even lanes, the odd lanes
  const Id roots[] = {k.lowered.sink};
  for (const Id id : k.g.reachable(roots))
    if (k.g.op(id) == Op::LOAD && k.g.lanes(id) > 1 && k.g.src(id).size() == 2) {  // without a mask
      EXPECT_EQ(k.g.arg(k.g.src(id, 1), 0), 1);
    }
  for (std::int64_t extent : {0, 1, 16, 37}) k.expect_same({{"N", extent}}, 16);
}

}  // namespace
}  // namespace kiln::compiler::testing
