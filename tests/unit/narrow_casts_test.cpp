// Casts of vectors of indices to floats.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(NarrowCasts, PositionsBecomeFloatsWithoutWideConversions) {
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
    for (std::int64_t extent : {1, 16, 100}) k.expect_same({{"N", extent}}, 16);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
