#include "tests/run/check_at_levels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {

std::vector<std::string> next_levels() {
  static std::size_t programs = 0;
  std::vector<std::string> all{"x86-64-v3"};
  if (__builtin_cpu_supports("x86-64-v4")) all.emplace_back("x86-64-v4");
  const std::size_t n = programs++;
  if (n == 0 || std::getenv("KILN_ALL_CASES") != nullptr) return all;
  return {all[n % all.size()]};
}

namespace {

struct AtLevels {
  Graph graph;
  Program program;
  std::vector<std::string> levels = next_levels();
  CompiledProgram compiled;
  explicit AtLevels(const std::string& text)
      : program(read_program(graph, text, "program.kiln")), compiled(graph, program, levels) {}
};

// Most tests call a program many times in a row, with other extents. It is compiled once.
AtLevels& compiled_once(const std::string& text) {
  constexpr std::size_t most = 16;
  static std::map<std::string, AtLevels> programs;
  if (programs.size() >= most && !programs.contains(text)) programs.clear();
  return programs.try_emplace(text, text).first->second;
}

}  // namespace

void check_at_levels(const std::string& text, const Symbols& symbols, int kernels) {
  std::string trace = text;
  for (const auto& [name, value] : symbols) trace += "# " + name + " = " + std::to_string(value) + "\n";
  SCOPED_TRACE(trace);
  auto& [g, p, levels, compiled] = compiled_once(text);
  std::mt19937 random(5);
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr float special[] = {0.0f,
                                      -0.0f,
                                      infinity,
                                      -infinity,
                                      std::numeric_limits<float>::quiet_NaN(),
                                      std::numeric_limits<float>::denorm_min(),
                                      std::numeric_limits<float>::max()};
  const auto element = [&] {
    if (random() % 32 == 0) return special[random() % std::size(special)];
    return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 37.0f;
  };
  std::vector<Array> arguments;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    for (const Id e : q.extents) extents.push_back(IndexValues(g, symbols)(e).value());
    arguments.push_back(array_of_elements(q.dtype, extents, element));
  }
  const auto expected = interpret(g, p, arguments);
  for (const std::string& cpu : levels) {
    compiled.force(cpu);
    if (kernels > 0) {
      EXPECT_EQ(compiled.description()->n_kernels, kernels);
    }
    for (const int workers : {1, 3}) {
      const auto got = compiled(arguments, workers);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (p.params[i].direction == Direction::in) continue;
        EXPECT_EQ(difference(expected[i], got[i]), "") << cpu << ", workers " << workers << ", " << p.params[i].name;
      }
    }
  }
}

}  // namespace kiln::compiler::testing
