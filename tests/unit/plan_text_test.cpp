// plan_text.h names every property of a plan.
#include "compiler/lower/plan_text.h"

#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(PlanText, HasALineForEachLoop) {
  OneKernel k;
  const Id n = k.symbol("N");
  const Id i = k.range(k.g.index(64)), j = k.range(n);
  const Id ranges[] = {i, j};
  const std::vector<LoopPlan> plan = {{.range = i, .step = 12, .block = true},
                                      {.range = j, .step = 32, .lanes = true, .align = 64, .tails = {{16, false}, {16, true}}},
                                      {.range = i, .step = 4, .transposes = j, .tails = {{2, false}, {1, false}}}};
  EXPECT_EQ(plan_text(k.g, ranges, plan),
            "i0 of 64: blocks of 12\n"
            "i1 of N: lanes 32, tails 16, 16 masked, aligned to 64 bytes\n"
            "i0 of 64: copies 4, tails 2, 1, transposes to lanes of i1\n");
}

TEST(PlanText, SaysWhenLoopsShareRowsOrHaveNoCopies) {
  OneKernel k;
  const Id i = k.range(k.symbol("N"));
  const Id ranges[] = {i};
  const auto text = [&](const LoopPlan& p) { return plan_text(k.g, ranges, std::vector{p}); };
  EXPECT_EQ(text({.range = i}), "i0 of N: one at a time\n");
  EXPECT_EQ(text({.step = 8, .rows = true}), "rows 8\n");
  EXPECT_EQ(text({.range = i, .step = 24, .lanes = true, .vectors = 3}), "i0 of N: lanes 24 in 3 vectors, tails 1\n");
  EXPECT_EQ(text({.range = i, .step = 4, .shares_loads = true}), "i0 of N: copies 4, tails 1, share loads\n");
  EXPECT_EQ(text({.range = i, .step = 2, .streams = i}), "i0 of N: copies 2, tails 1, if the rows are large\n");
  EXPECT_EQ(text({.range = i, .step = 8, .lanes = true, .masked_all = true}), "i0 of N: lanes 8, tails 1, all masked\n");
  EXPECT_EQ(text({.range = i, .step = 8, .lanes = true, .align = 32, .past_caches = 100}),
            "i0 of N: lanes 8, tails 1, aligned to 32 bytes, past the caches from 100 iterations\n");
  EXPECT_EQ(plan_text(k.g, ranges, {}), "");
}

}  // namespace
}  // namespace kiln::compiler::testing
