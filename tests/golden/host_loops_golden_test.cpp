// Programs with host loops: the segments (pieces) that host_loops makes, the kernels in their loops, and the same after
// ping_pong and memory_plan.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/golden/golden.h"
#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

class HostLoopsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(HostLoopsGolden, PiecesAndKernels) {
  const std::string source = golden_path(GetParam() + std::string(".kiln"));
  Graph g;
  const Program p = read_program(g, read(source), source);
  verify(g, p);
  std::string text;
  PassOptions options{.last = "memory_plan"};
  options.done = [&](const Pass& pass, const Graph& h, const Schedule& s) {
    const bool is_shown = pass.name == "host_loops" || pass.name == "dependencies" || pass.name == "memory_plan";
    if (is_shown) text += write_schedule(h, s, {.locations = false});
  };
  run_passes(g, p, options);
  expect_golden(text, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cases, HostLoopsGolden, ::testing::Values("diffusion", "five", "wave"),
                         [](const auto& c) { return std::string(c.param); });

}  // namespace
}  // namespace kiln::compiler::testing
