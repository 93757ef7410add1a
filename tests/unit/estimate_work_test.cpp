// The estimated work of a kernel, as an expression of the extents.
#include "compiler/lower/estimate_work.h"
#include "compiler/ir/index_poly.h"
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(EstimateWork, WorkIsAnExpressionOfTheExtents) {
  OneKernel k;
  make_axpy(k, k.symbol("N"));
  const Id work = k.lower().work;
  const std::int64_t small = index_at(k.g, work, {{"N", 10}}), large = index_at(k.g, work, {{"N", 1010}});
  EXPECT_GE(large - small, 1000 / 40);  // nanoseconds
  EXPECT_LE(large - small, 1000);
}

TEST(EstimateWork, WorkIsTheTimeWhereSymbolsAreTypical) {
  Graph g;
  const Id n = g.sym("N"), work = index_add(g, index_mul(g, n, g.index(3)), g.index(1));
  for (const double time : {0.5, 40.0, 3073.0, 20000.0, 5e7}) {
    const auto got = static_cast<double>(index_at(g, work_in_time(g, work, time), {{"N", 1024}}));
    EXPECT_GE(got, 0.8 * time - 1);
    EXPECT_LE(got, 1.2 * time + 1);
  }
  EXPECT_TRUE(g.is_index_const(work_in_time(g, g.index(1000), 77), 77));
}

// The estimate must be an expression that the manifest can contain.
TEST(EstimateWork, WorkOfLoopsThatDataEnds) {
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
