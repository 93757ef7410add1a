// The result of each graph-level pass for small programs: <case>.kiln is the input, <case>.txt the output, one section per
// pass.
#include <gtest/gtest.h>

#include "tests/golden/golden.h"
#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

class ScheduleGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ScheduleGolden, Passes) {
  const std::string source = golden_path(GetParam() + std::string(".kiln"));
  Graph g;
  const Program p = read_program(g, read(source), source);
  verify(g, p);
  std::string text, last;
  PassOptions options{.last = std::string(last_pass(Form::planned))};
  options.done = [&](const Pass& pass, const Graph& h, const Schedule& s) {
    const std::string now = schedule_text(h, s);
    text += "== " + std::string(pass.name) + "\n" + (now == last ? "as before\n" : now) + memory_text(h, s);
    last = now;
  };
  run_passes(g, p, options);
  expect_golden(text, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cases, ScheduleGolden,
                         ::testing::Values("axpy_2d", "concat_iota", "long_sum", "matmul_relu", "packed_matmul", "pad_modes",
                                           "reshape_sum", "row_attention", "rows_with_halo", "shift_in_place", "softmax",
                                           "stacked_layers"),
                         [](const auto& c) { return std::string(c.param); });

}  // namespace
}  // namespace kiln::compiler::testing
