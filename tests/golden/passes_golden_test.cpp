// Golden tests of single passes. Input: <pass>/<case>.kiln, whose first line names the pass or step of lowering. Output:
// <pass>/<case>.txt, the program before and after it. All cases run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/golden/golden.h"
#include "tests/golden/schedule_text.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::string_view marker = "# pass ";

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const auto& f : std::filesystem::recursive_directory_iterator(GOLDEN_FOLDER))
    if (f.path().extension() == ".kiln") out.push_back((f.path().parent_path().filename() / f.path().stem()).string());
  std::ranges::sort(out);
  return out;
}

class PassGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(PassGolden, Pass) {
  const std::string path = golden_path(GetParam() + ".kiln"), source = read(path);
  ASSERT_TRUE(source.starts_with(marker)) << "the first line is \"# pass NAME\"";
  const std::string pass = source.substr(marker.size(), source.find('\n') - marker.size());
  Graph g;
  const Program p = read_program(g, source, path);
  verify(g, p);
  const Id program[] = {p.sink};
  std::string before = write_nodes(g, program, plain), text;
  PassOptions options;
  options.done = [&](const Pass& done, const Graph& h, const Schedule& s) {
    const std::string now = schedule_text(h, s) + memory_text(h, s);
    if (done.name == pass) text = "== before " + pass + "\n" + before + "== after " + pass + "\n" + now;
    before = now;
  };
  run_passes(g, p, options);
  ASSERT_NE(text, "") << "no pass " << pass;
  expect_golden(text, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cases, PassGolden, ::testing::ValuesIn(cases()), [](const auto& c) {
  std::string name = c.param;
  std::ranges::replace(name, '/', '_');
  return name;
});

}  // namespace
}  // namespace kiln::compiler::testing
