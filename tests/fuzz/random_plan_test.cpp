// Random plans obey the rules, and most differ from the compiler's own.
#include "tests/fuzz/random_plan.h"

#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/lower/check_plan.h"
#include "compiler/pipeline/run_passes.h"

namespace kiln::compiler::testing {
namespace {

bool is_same(std::span<const LoopPlan> a, std::span<const LoopPlan> b) {
  return std::ranges::equal(a, b, [](const LoopPlan& p, const LoopPlan& q) {
    return p.range == q.range && p.step == q.step && p.lanes == q.lanes && p.block == q.block;
  });
}

TEST(RandomPlans, AreLegalAndVaried) {
  Graph g;
  const Program p = read_program(g, R"(program product
in f32 [M, K] a
in f32 [K, N] b
out f32 [M, N] c
%0 = param a
%1 = reshape [M, 1, K] %0
%2 = expand [M, N, K] %1
%3 = param b
%4 = permute %3, axes [1, 0]
%5 = reshape [1, N, K] %4
%6 = expand [M, N, K] %5
%7 = reduce %2, %6, fma, axes [2]
store c, %7
)",
                                 "product");
  int plans = 0, own = 0, with_lanes = 0, with_blocks = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const PlanMaker random = random_plans(seed);
    PassOptions options;
    options.make_plan = [&](const Graph& graph, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
      std::vector<LoopPlan> plan = random(graph, stores, ranges, target);
      EXPECT_EQ(check_plan(graph, stores, ranges, plan), "");
      ++plans;
      own += is_same(plan, vectorize_plan(graph, stores, ranges, target));
      with_lanes += std::ranges::any_of(plan, &LoopPlan::lanes);
      with_blocks += std::ranges::any_of(plan, &LoopPlan::block);
      return plan;
    };
    run_passes(g, p, options);
  }
  EXPECT_GE(plans, 100);
  EXPECT_LT(own, plans / 4);
  EXPECT_GT(with_lanes, plans / 4);
  EXPECT_GT(with_blocks, plans / 8);
}

}  // namespace
}  // namespace kiln::compiler::testing
