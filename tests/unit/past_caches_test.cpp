// From how many iterations on stores go past the caches.
#include "compiler/lower/past_caches.h"

#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

struct Sum {
  // y[i] = x[0] + x[i] + z[i]
  explicit Sum(bool in_place) {
    const Id n = k.symbol("N");
    const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n), z = k.buffer(DType::u8, n);
    i = k.range(n);
    const Id one = k.op(Op::ADD, DType::f32, {k.load(x, k.g.index(0)), k.load(in_place ? y : x, i)});
    const Id more = k.op(Op::CAST, DType::f32, {k.load(z, i)});
    store = k.g.make(Op::STORE, DType::none, {k.node(y), i, k.op(Op::ADD, DType::f32, {one, more})});
  }
  std::int64_t from() const { return past_caches_from(k.g, std::span(&store, 1), i); }
  OneKernel k;
  Id i, store;
};

TEST(PastCaches, CountsTheBytesOfEachArrayOnce) {
  EXPECT_EQ(Sum(false).from(), (32 << 20) / (4 + 4 + 1));
  EXPECT_EQ(Sum(true).from(), 0) << "y is in the caches already";
}

TEST(PastCaches, IterationsOfAllLoops) {
  OneKernel k;
  const Id i = k.range(k.symbol("N")), j = k.range(k.symbol("M"));
  const LoopPlan plan[] = {{.range = j, .step = 64, .block = true}, {.range = i}, {.range = j, .step = 16, .lanes = true}};
  const Id large = is_past_caches(k.g, plan, 1000);
  const auto at = [&](std::int64_t n, std::int64_t m) { return index_at(k.g, large, {{"N", n}, {"M", m}}); };
  EXPECT_EQ(at(10, 100), 1);
  EXPECT_EQ(at(9, 111), 0);
  EXPECT_EQ(at(0, 100'000), 0);
  EXPECT_EQ(at(std::int64_t{1} << 40, std::int64_t{1} << 40), 1) << "the product does not overflow";
}

}  // namespace
}  // namespace kiln::compiler::testing
