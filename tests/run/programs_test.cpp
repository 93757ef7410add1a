// Programs in the DSL that cover every operation of the front end (tests/run/programs): captured, imported, compiled and run.
// Results equal the interpreter's, bit for bit. Arguments: the folder with the generator's `.kiln` texts; --strided for strides
// of the caller for all parameters; the least number of programs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"
#include "tests/run/layouts.h"

namespace kiln::compiler::testing {
namespace {

std::string folder;
bool with_strides = false;
std::size_t least_programs = 70;

std::vector<Array> arguments_for(const Graph& g, const Program& p, int step, std::mt19937& random) {
  std::map<std::string, std::int64_t> symbols;
  for (const Symbol& s : p.symbols) {
    const std::int64_t sizes[] = {0, 1, 7, 33};
    const std::int64_t v = std::max(sizes[step], s.min);
    symbols[s.name] = std::min((v + s.multiple_of - 1) / s.multiple_of * s.multiple_of, s.max);
  }
  IndexValues values(g, symbols);
  const auto element = [&] {
    const double ordinary = static_cast<double>(static_cast<int>(random() % 2001) - 1000) / 64;
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-42, 65504, 1e30};
    return random() % 24 == 0 ? special[random() % 8] : ordinary;
  };
  std::vector<Array> out;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    for (Id e : q.extents) extents.push_back(*values(e));
    out.push_back(array_of_elements(q.dtype, std::move(extents), element));
  }
  return out;
}

void check(const std::filesystem::path& file) {
  SCOPED_TRACE(file.filename().string());
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  Graph g;
  const Program p = read_program(g, text.str(), file.filename().string());
  const CompiledProgram compiled(g, with_strides ? strided(p) : p);
  std::mt19937 random(1);
  for (int step = 0; step < (p.symbols.empty() ? 1 : 4); ++step) {
    const auto arguments = arguments_for(g, p, step, random);
    const auto expected = interpret(g, p, arguments);
    for (int workers : {1, 3}) {
      const auto got = compiled(arguments, workers);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(difference(expected[i], got[i]), "") << p.params[i].name << ", size " << step << ", workers " << workers;
    }
  }
}

TEST(Programs, CompiledEqualsInterpreter) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".kiln") files.insert(entry.path());
  ASSERT_GE(files.size(), least_programs);
  for (const auto& f : files) check(f);
}

}  // namespace
}  // namespace kiln::compiler::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 2 || argc > 4) return 64;
  kiln::compiler::testing::folder = argv[1];
  kiln::compiler::testing::with_strides = argc > 2 && std::string(argv[2]) == "--strided";
  if (argc > 3) kiln::compiler::testing::least_programs = static_cast<std::size_t>(std::atoi(argv[3]));
  return RUN_ALL_TESTS();
}
