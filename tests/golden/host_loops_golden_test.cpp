// Programs with host loops: the segments (pieces) that host_loops makes, the kernels in their loops, and the same after
// ping_pong and memory_plan.
// With KILN_UPDATE_GOLDEN=1 in the environment the files are written instead of compared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

class HostLoopsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(HostLoopsGolden, PiecesAndKernels) {
  const std::string base = std::string(GOLDEN_FOLDER) + "/" + GetParam();
  Graph g;
  const Program p = read_program(g, read(base + ".kiln"), base + ".kiln");
  verify(g, p);
  std::string text;
  PassOptions options{.last = "memory_plan"};
  options.done = [&](const Pass& pass, const Graph& h, const Schedule& s) {
    const bool is_shown = pass.name == "host_loops" || pass.name == "dependencies" || pass.name == "memory_plan";
    if (is_shown) text += write_schedule(h, s, {.locations = false});
  };
  run_passes(g, p, options);
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
