// Programs with host loops: the segments (pieces) that host_loops makes, the kernels in their loops, and the same after
// ping_pong and memory_plan.
// With KILN_UPDATE_GOLDEN=1 in the environment the files are written instead of compared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "compiler/ir/compact.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/schedule/make_schedule.h"
#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

class HostLoopsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(HostLoopsGolden, PiecesAndKernels) {
  const std::string base = std::string(GOLDEN_FOLDER) + "/" + GetParam();
  Graph g;
  Schedule s;
  s.program = read_program(g, read(base + ".kiln"), base + ".kiln");
  verify(g, s.program);
  std::string text;
  for (const SchedulePass& pass : schedule_passes()) {
    pass.run(g, s);
    g = compact(g, s);
    s.after = pass.name;
    const bool is_shown = pass.name == "host_loops" || pass.name == "dependencies" || pass.name == "memory_plan";
    if (is_shown) text += write_schedule(g, s, {.locations = false});
  }
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(base + ".txt", std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read(base + ".txt"), text);
}

INSTANTIATE_TEST_SUITE_P(Cases, HostLoopsGolden, ::testing::Values("diffusion", "five", "wave"),
                         [](const auto& c) { return std::string(c.param); });

}  // namespace
}  // namespace kiln::compiler::testing
