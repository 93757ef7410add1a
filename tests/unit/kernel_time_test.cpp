// Predicted times rank plans as measurements do. docs/reference/speed.md has the command that measures.
#include "compiler/lower/kernel_time.h"

#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

const Target avx2 = target_named("x86-64-v3"), avx512 = target_named("x86-64-v4");

// The predicted nanoseconds of the kernel with a plan for its ranges.
double time(OneKernel& k, const Target& target, const std::vector<LoopPlan>& plan) {
  Schedule s = k.schedule;
  s.after = "share_kernels";
  Kernel kernel;
  kernel.name = "p_k0";
  kernel.sink = k.g.make(Op::SINK, DType::none, k.ends);
  for (std::size_t i = 0; i < s.buffers.size(); ++i) kernel.buffers.push_back(static_cast<int>(i));
  s.kernels = {kernel};
  PassOptions options{.target = target, .verify = false};
  options.make_plan = [&](const Graph&, std::span<const Id>, std::span<const Id> ranges, const Target&) {
    std::vector<LoopPlan> out = plan;
    for (LoopPlan& p : out) {  // plans name ranges by number
      p.range = ranges[p.range];
      if (p.transposes != no_id) p.transposes = ranges[p.transposes];
    }
    return out;
  };
  const Scheduled out = run_passes(k.g, s, options);
  return kernel_time(out.graph, out.schedule.lowered[0], target);
}

// c[i, j] = the sum of a[i, k] * b[k, j].
double product(std::int64_t n, const Target& target, int copies, int lanes) {
  OneKernel k;
  const Id size = k.g.index(n), all = k.g.index(n * n);
  const int a = k.buffer(DType::f32, all), b = k.buffer(DType::f32, all), c = k.buffer(DType::f32, all);
  const Id i = k.range(size), j = k.range(size), r = k.reduce_range(size);
  const Id sum = k.reduce(ReduceKind::fma, ReduceOrder::sequential, DType::f32,
                          {k.load(a, k.at(i, size, r)), k.load(b, k.at(r, size, j)), r});
  k.store(c, k.at(i, size, j), sum, {i, j});
  return time(k, target, {{.range = 1, .step = lanes, .lanes = true}, {.range = 0, .step = copies}});
}

// y[i] = x[i] + x[i], in vectors that begin at a multiple of a register.
double doubled(std::int64_t n, bool past_caches) {
  OneKernel k;
  const Id size = k.g.index(n);
  const int x = k.buffer(DType::f32, size), y = k.buffer(DType::f32, size);
  const Id i = k.range(size), element = k.load(x, i);
  k.store(y, i, k.op(Op::ADD, DType::f32, {element, element}), {i});
  return time(k, avx2, {{.range = 0, .step = 16, .lanes = true, .align = 32, .past_caches = past_caches ? 1 : 0}});
}

// y[i, j] = x[j, i] of n x n elements.
double transposed(std::int64_t n, const std::vector<LoopPlan>& plan) {
  OneKernel k;
  const Id size = k.g.index(n), all = k.g.index(n * n);
  const int x = k.buffer(DType::f32, all), y = k.buffer(DType::f32, all);
  const Id i = k.range(size), j = k.range(size);
  k.store(y, k.at(i, size, j), k.load(x, k.at(j, size, i)), {i, j});
  return time(k, avx2, plan);
}

TEST(KernelTime, AccumulatorsFillTheRegistersAndNoMore) {
  EXPECT_LT(product(256, avx2, 6, 16), product(256, avx2, 7, 16));
  EXPECT_LT(product(256, avx2, 6, 16), product(256, avx2, 2, 8) / 1.5);
  EXPECT_LT(product(256, avx2, 2, 8), product(256, avx2, 1, 1) / 4);
  EXPECT_LT(product(256, avx512, 14, 32), product(256, avx512, 16, 32));
  EXPECT_LT(product(256, avx512, 14, 32), product(256, avx512, 4, 16) / 1.5);
}

TEST(KernelTime, StoresPastTheCachesPayForLargeArraysOnly) {
  EXPECT_LT(doubled(1 << 24, true), doubled(1 << 24, false));
  EXPECT_LT(doubled(1 << 16, false), doubled(1 << 16, true));
}

TEST(KernelTime, TransposesPayInTiles) {
  std::vector<LoopPlan> tiles = {{.range = 0, .step = 64, .block = true},
                                 {.range = 1, .step = 8, .lanes = true},
                                 {.range = 0, .step = 8, .transposes = 1}};
  const std::vector<LoopPlan> rows = {{.range = 0}, {.range = 1}}, columns = {{.range = 1}, {.range = 0}};
  EXPECT_LT(transposed(500, tiles), transposed(2000, rows) / 1.5);
  EXPECT_LT(transposed(500, tiles), transposed(2000, columns) / 1.5);
}

TEST(KernelTime, IsTheSameInEveryRun) {
  EXPECT_EQ(product(256, avx2, 6, 16), product(256, avx2, 6, 16));
  EXPECT_EQ(transposed(500, {{.range = 0}, {.range = 1}}), transposed(500, {{.range = 0}, {.range = 1}}));
}

// Twice the elements take at most a little more than twice the time, unless the arrays leave a cache.
TEST(KernelTime, GrowsWithTheExtents) {
  for (std::int64_t n = 1 << 10; n < 1 << 20; n *= 2) {
    EXPECT_GT(doubled(2 * n, false), doubled(n, false));
    EXPECT_LT(doubled(2 * n, false), 8 * doubled(n, false));
  }
}

// The tests of loop_counts.h. Blocks of a range whose extent is no multiple have the turns of the range.
TEST(KernelTime, CountsTurnsOfBlocks) {
  OneKernel k;
  const Id size = k.g.index(1000);
  const int x = k.buffer(DType::f32, size);
  const Id i = k.range(size);
  k.store(x, i, k.f32(1), {i});
  const double whole = time(k, avx2, {{.range = 0}});
  const double blocks = time(k, avx2, {{.range = 0, .step = 256, .block = true}, {.range = 0}});
  EXPECT_GT(blocks, whole);
  EXPECT_LT(blocks, 1.2 * whole);
}

}  // namespace
}  // namespace kiln::compiler::testing
