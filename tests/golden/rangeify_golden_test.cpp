// Golden tests of single passes. Input: <case>.kiln, whose first line names a pass or a step of lowering. Output: <case>.txt,
// the program before and after it. All cases of the folder run. With KILN_UPDATE_GOLDEN=1 in the environment the files are
// written instead of compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "compiler/lower/lower.h"
#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::string_view marker = "# pass ";

// Keeps the texts around one pass.
class Around {
 public:
  Around(std::string pass, std::string before) : pass_(std::move(pass)), before_(std::move(before)) {}

  void after(std::string_view name, std::string now) {
    if (name == pass_) text_ += "== before " + pass_ + "\n" + before_ + "== after " + pass_ + "\n" + now;
    before_ = std::move(now);
  }
  void restart(std::string before) { before_ = std::move(before); }
  const std::string& text() const { return text_; }

 private:
  std::string pass_, before_, text_;
};

struct AroundPass final : PassObserver {
  explicit AroundPass(Around& a) : around(a) {}
  void after(std::string_view name, Graph& g, const Schedule& s) const override {
    verify_schedule(g, s, name);
    around.after(name, schedule_text(g, s) + memory_text(g, s));
  }
  Around& around;
};

struct AroundStep final : LowerObserver {
  explicit AroundStep(Around& a) : around(a) {}
  void after(std::string_view name, const Graph& g, Id sink) const override {
    const Id roots[] = {sink};
    around.after(name, write_nodes(g, roots, plain));
  }
  Around& around;
};

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const auto& f : std::filesystem::directory_iterator(GOLDEN_FOLDER))
    if (f.path().extension() == ".kiln") out.push_back(f.path().stem().string());
  std::ranges::sort(out);
  return out;
}

class RangeifyGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(RangeifyGolden, Pass) {
  const std::string base = std::string(GOLDEN_FOLDER) + "/" + GetParam(), source = read(base + ".kiln");
  ASSERT_TRUE(source.starts_with(marker)) << "the first line is \"# pass NAME\"";
  const std::string pass = source.substr(marker.size(), source.find('\n') - marker.size());
  Graph g;
  const Program p = read_program(g, source, base + ".kiln");
  verify(g, p);
  const Id program[] = {p.sink};
  Around around(pass, write_nodes(g, program, plain));
  const AroundPass passes(around);
  const Schedule s = make_schedule(g, p, &passes);
  for (const Kernel& k : s.kernels) {
    const Id kernel[] = {k.sink};
    around.restart(write_nodes(g, kernel, plain));
    const AroundStep steps(around);
    lower_kernel(g, s, k, facts_of(s.program), Target{}, &steps);
  }
  ASSERT_NE(around.text(), "") << "no pass " << pass;
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(base + ".txt", std::ios::binary) << around.text();
    return;
  }
  EXPECT_EQ(read(base + ".txt"), around.text());
}

INSTANTIATE_TEST_SUITE_P(Cases, RangeifyGolden, ::testing::ValuesIn(cases()), [](const auto& c) { return c.param; });

}  // namespace
}  // namespace kiln::compiler::testing
