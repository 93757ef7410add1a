// Compiling from the text that --dump-after writes after any pass gives the same object, header and manifest, byte for byte.
// The passes are pass_names(). The programs are in some folders, in the demo, in examples with workgroups, atomics and loops
// around kernels (every other pass), and random ones (every third pass).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/compile.h"
#include "generator/header_writer.h"
#include "generator/import.h"
#include "generator/manifest_writer.h"
#include "generator/registry.h"
#include "generator/tools/npy.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/random_scopes.h"
#include "tests/fuzz/random_states.h"

namespace kiln::generator {
namespace {

using namespace compiler;

struct Result {
  std::string object, header, manifest;
  std::map<std::string, std::string, std::less<>> dumps;  // by pass
  bool operator==(const Result&) const = default;
};

Result compile_all(Graph& g, Schedule begin) {
  Result out;
  CompileOptions options;
  options.symbol_prefix = "kernels_";
  options.dump_after = {"all"};
  options.dump = [&](std::string_view pass, const std::string& text) { out.dumps.emplace(pass, text); };
  out.header = write_header(g, begin.program, "kernels");
  Compiled c = compile(g, begin, options);
  out.object = c.code.object;
  out.manifest = write_manifest(c, "kernels");
  return out;
}

// Compiles from the texts after the passes `first`, `first` + `step`, ..
void expect_same_from_texts(Graph& g, const Program& p, std::size_t first = 0, std::size_t step = 1) {
  Schedule begin;
  begin.program = p;
  const Result whole = compile_all(g, begin);
  ASSERT_GT(whole.object.size(), 0u);
  for (std::size_t i = first; i < passes().size(); i += step) {
    if (passes()[i].leaves == Form::lowering) continue;
    const std::string_view pass = passes()[i].name;
    SCOPED_TRACE(p.name + " after " + std::string(pass));
    ASSERT_TRUE(whole.dumps.contains(pass));
    Graph h;
    Schedule s = read_schedule(h, whole.dumps.find(pass)->second);
    verify(h, s);
    const Result rest = compile_all(h, std::move(s));
    EXPECT_TRUE(rest.object == whole.object);
    EXPECT_EQ(rest.header, whole.header);
    EXPECT_EQ(rest.manifest, whole.manifest);
    for (const auto& [later, text] : rest.dumps)
      EXPECT_TRUE(text.substr(0, text.find('\n')) == "schedule " + p.name + " after " + later) << later;
  }
}

class Files : public ::testing::TestWithParam<std::string> {};

TEST_P(Files, ContinueFromEveryPass) {
  Graph g;
  const Program p = read_program(g, read_file(GetParam()), GetParam());
  verify(g, p);
  expect_same_from_texts(g, p);
}

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const char* folder : {"golden/schedule", "run/resume", "run/scopes/host_loops"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(TESTS_FOLDER) + "/" + folder))
      if (entry.path().extension() == ".kiln") out.push_back(entry.path().string());
  std::ranges::sort(out);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Texts, Files, ::testing::ValuesIn(files()),
                         [](const auto& c) { return std::filesystem::path(c.param).stem().string(); });

TEST(Captured, ContinueFromEveryPass) {
  ASSERT_FALSE(registered_programs().empty());
  const std::vector<const dsl::record::program*>& all = registered_programs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Graph g;
    const Program p = import_program(g, *all[i]);
    expect_same_from_texts(g, p, i % 2, 2);
  }
}

// Programs with a short text come first, and the first failure ends the test: it prints the smallest program that fails.
void expect_same_of_random(std::uint64_t count, Program (*make)(Graph& g, std::uint64_t seed)) {
  std::vector<std::pair<std::string, std::uint64_t>> programs;  // text and seed
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Graph g;
    programs.emplace_back(write_program(g, make(g, seed), {.locations = false}), seed);
  }
  std::ranges::sort(programs, {}, [](const auto& p) { return p.first.size(); });
  for (const auto& [text, seed] : programs) {
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Graph g;
    const Program p = make(g, seed);
    expect_same_from_texts(g, p, seed % 3, 3);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Random, ContinueFromEveryPass) {
  expect_same_of_random(40,
                        [](Graph& g, std::uint64_t seed) { return compiler::testing::random_program(g, seed, seed % 3 == 0); });
}
// Kernels, workgroups, loops with breaks and conditions, in and around kernels.
TEST(Random, ScopesContinueFromEveryPass) {
  expect_same_of_random(15,
                        [](Graph& g, std::uint64_t seed) { return import_program(g, kiln::test::random_scopes(seed).get()); });
}
TEST(Random, StatesContinueFromEveryPass) {
  expect_same_of_random(15,
                        [](Graph& g, std::uint64_t seed) { return import_program(g, kiln::test::random_states(seed).get()); });
}

}  // namespace
}  // namespace kiln::generator
