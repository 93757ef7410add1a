// One pass each: <case>.kiln, whose first line names the pass, in; <case>.txt, the program before the pass and after it, out.
// All cases of the folder run. With KILN_UPDATE_GOLDEN=1 in the environment the files are written instead of compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::string_view marker = "# pass ";

struct Around final : PassObserver {
  explicit Around(std::string name) : pass(std::move(name)) {}
  void after(std::string_view name, Graph& g, const Schedule& s) const override {
    verify_schedule(g, s, name);
    const std::string now = schedule_text(g, s) + memory_text(g, s);
    if (name == pass) text = "== before " + pass + "\n" + before + "== after " + pass + "\n" + now;
    before = now;
  }
  std::string pass;
  mutable std::string before, text;
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
  Around around(source.substr(marker.size(), source.find('\n') - marker.size()));
  Graph g;
  const Program p = read_program(g, source, base + ".kiln");
  verify(g, p);
  const Id roots[] = {p.sink};
  around.before = write_nodes(g, roots, plain);
  make_schedule(g, p, &around);
  ASSERT_NE(around.text, "") << "no pass " << around.pass;
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(base + ".txt", std::ios::binary) << around.text;
    return;
  }
  EXPECT_EQ(read(base + ".txt"), around.text);
}

INSTANTIATE_TEST_SUITE_P(Cases, RangeifyGolden, ::testing::ValuesIn(cases()), [](const auto& c) { return c.param; });

}  // namespace
}  // namespace kiln::compiler::testing
