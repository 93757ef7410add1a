// Compiling from the text that --dump-after writes after any pass gives the same object, header and manifest, byte for byte.
// The programs are in some folders, in the demo, in examples with workgroups, atomics and loops around kernels, and random
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/run_passes.h"
#include "generator/header_writer.h"
#include "generator/import.h"
#include "generator/manifest_writer.h"
#include "generator/outputs.h"
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

std::size_t next_text(std::size_t i) {  // no text between two steps of lowering can be read
  do ++i;
  while (i + 1 < passes().size() && passes()[i].leaves == Form::lowering);
  return i;
}

Result compile_all(Graph& g, const Schedule& begin, bool dump = false) {
  Result out;
  CompileOptions options;
  options.symbol_prefix = "kernels_";
  for (std::size_t i = 0; dump && i < passes().size(); i = next_text(i)) options.dump_after.emplace_back(passes()[i].name);
  options.dump = [&](std::string_view pass, const std::string& text) { out.dumps.emplace(pass, text); };
  out.header = write_header(g, begin.program, "kernels");
  Compiled c = compile(g, begin, options);
  out.object = c.code.object;
  out.manifest = write_manifest(c, "kernels");
  return out;
}

// From the text after each pass, the next pass gives the same text as in the whole run. So all texts lead to the last one, and
// the last one must lead to the same object. The text after the first pass is compiled to an object too.
void expect_same_from_texts(Graph& g, const Program& p) {
  Schedule begin;
  begin.program = p;
  const Result whole = compile_all(g, begin, true);
  ASSERT_GT(whole.object.size(), 0u);
  const std::size_t last = passes().size() - 1;
  for (std::size_t i = 0; i <= last; i = next_text(i)) {
    const std::string_view pass = passes()[i].name;
    SCOPED_TRACE(p.name + " after " + std::string(pass));
    ASSERT_TRUE(whole.dumps.contains(pass));
    Graph h;
    Schedule s = read_schedule(h, whole.dumps.find(pass)->second);
    verify(h, s);
    if (i == 0 || i == last) {
      const Result rest = compile_all(h, s);
      EXPECT_TRUE(rest.object == whole.object);
      EXPECT_EQ(rest.header, whole.header);
      EXPECT_EQ(rest.manifest, whole.manifest);
    }
    if (i == last) break;
    const std::string_view next = passes()[next_text(i)].name;
    const Scheduled after = run_passes(h, std::move(s), {.target = target_named("x86-64-v3"), .last = std::string(next)});
    Graph same;
    const Schedule expected = read_schedule(same, whole.dumps.find(next)->second);
    const TextOptions plain{.locations = false};  // a node has the place of the first of the equal expressions
    EXPECT_EQ(write_schedule(after.graph, after.schedule, plain), write_schedule(same, expected, plain)) << "by " << next;
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
  for (const dsl::record::program* one : registered_programs()) {
    Graph g;
    const Program p = import_program(g, *one);
    expect_same_from_texts(g, p);
  }
}

// Half of the programs, or with the environment variable KILN_ALL_CASES, which the long test sets, all. Programs with a short
// text come first, and the first failure ends the test: it prints the smallest program that fails.
void expect_same_of_random(std::uint64_t all, Program (*make)(Graph& g, std::uint64_t seed)) {
  std::vector<std::pair<std::string, std::uint64_t>> programs;  // text and seed
  const std::uint64_t count = std::getenv("KILN_ALL_CASES") != nullptr ? all : all / 2;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Graph g;
    programs.emplace_back(write_program(g, make(g, seed), {.locations = false}), seed);
  }
  std::ranges::sort(programs, {}, [](const auto& p) { return p.first.size(); });
  for (const auto& [text, seed] : programs) {
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Graph g;
    const Program p = make(g, seed);
    expect_same_from_texts(g, p);
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
