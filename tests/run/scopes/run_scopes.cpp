#include "tests/run/scopes/run_scopes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include "compiler/interp/interpret.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/compile.h"
#include "generator/import.h"
#include "tests/run/compiled.h"
#include "tests/run/layouts.h"

namespace scopes {

using namespace kiln::compiler;

namespace {

bool with_objects = false, with_strides = false;

// A test calls one program with many arguments: each program is compiled once.
const kiln::compiler::testing::CompiledProgram& compiled_once(Graph& g, const Program& program) {
  static std::map<std::string, std::unique_ptr<kiln::compiler::testing::CompiledProgram>> all;
  auto& compiled = all[write_program(g, program)];
  if (!compiled)
    compiled = std::make_unique<kiln::compiler::testing::CompiledProgram>(
        g, with_strides ? kiln::compiler::testing::strided(program) : program);
  return *compiled;
}

Results run(Graph& g, const Program& program, std::vector<Array> arguments) {
  if (!program.checks.empty()) arguments.push_back(scalar(no_check));
  Results expected(program, interpret(g, program, arguments));
  if (!with_objects) return expected;
  const auto& compiled = compiled_once(g, program);
  for (const int workers : {1, 3}) {
    const auto got = compiled(arguments, workers);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(kiln::compiler::testing::difference(expected.at(i), got[i]), "")
          << program.name << ", " << program.params[i].name;
  }
  return expected;
}

}  // namespace

Results::Results(const Program& program, std::vector<Array> arrays) : std::vector<Array>(std::move(arrays)) {
  for (const Parameter& p : program.params) names_.push_back(p.name);
}

const Array& Results::operator[](std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) throw std::invalid_argument("no parameter " + std::string(name));
  return at(static_cast<std::size_t>(found - names_.begin()));
}

Results run(const kiln::dsl::record::program& p, const std::vector<Array>& arguments) {
  Graph g;
  const Program program = kiln::generator::import_program(g, p);
  return run(g, program, arguments);
}

std::string compile_error(const kiln::dsl::record::program& p) {
  Graph g;
  try {
    const Program program = kiln::generator::import_program(g, p);
    compile(g, program, {});
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}

namespace {

template <class F>
int count_kernels(const kiln::dsl::record::program& p, F&& counts) {
  Graph g;
  const Program program = kiln::generator::import_program(g, p);
  const Scheduled end = run_passes(g, program, {.last = std::string(last_pass(Form::planned))});
  return static_cast<int>(std::ranges::count_if(end.schedule.kernels, [&](const Kernel& k) { return counts(end.graph, k); }));
}

}  // namespace

int all_kernels(const kiln::dsl::record::program& p) {
  return count_kernels(p, [](const Graph&, const Kernel&) { return true; });
}
int kernels_in_loops(const kiln::dsl::record::program& p) {
  return count_kernels(p, [](const Graph&, const Kernel& k) { return k.loop >= 0; });
}
int kernels_in_loop(const kiln::dsl::record::program& p, int loop) {
  return count_kernels(p, [&](const Graph&, const Kernel& k) { return k.loop == loop; });
}
int copies_in_loops(const kiln::dsl::record::program& p) {
  return count_kernels(p, [](const Graph& g, const Kernel& k) {
    const Id end = g.src(k.sink, 0), store = g.src(end, 0), range = g.src(end, 1);
    if (k.loop < 0 || g.is_index_const(g.src(range, 0), 1) || g.src(store).size() < 3) return false;
    return g.op(g.src(store, 2)) == Op::LOAD && g.src(g.src(store, 2), 1) == g.src(store, 1);
  });
}

Results run_file(const std::string& name, const std::vector<Array>& arguments) {
  std::ifstream in(KILN_SCOPE_PROGRAMS + name);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  Graph g;
  const Program program = read_program(g, text, name);
  verify(g, program);
  Graph again;
  const std::string written = write_program(g, program);
  EXPECT_EQ(write_program(again, read_program(again, written)), written);
  return run(g, program, arguments);
}

}  // namespace scopes

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  scopes::with_strides = argc == 2 && std::string(argv[1]) == "--strided";
  scopes::with_objects = scopes::with_strides || (argc == 2 && std::string(argv[1]) == "--compiled");
  return RUN_ALL_TESTS();
}
