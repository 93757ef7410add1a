#include "tests/run/scopes/run_scopes.h"

#include <gtest/gtest.h>

#include "compiler/interp/interpret.h"
#include "generator/import.h"
#include "tests/run/compiled.h"

namespace scopes {

using namespace kiln::compiler;

namespace {
bool with_objects = false;
}

std::vector<Array> run(const kiln::record::program& p, const std::vector<Array>& arguments) {
  Graph g;
  const Program program = kiln::generator::import_program(g, p);
  auto expected = interpret(g, program, arguments);
  if (!with_objects) return expected;
  const kiln::compiler::testing::CompiledProgram compiled(g, program);
  for (const int workers : {1, 3}) {
    const auto got = compiled(arguments, workers);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(kiln::compiler::testing::difference(expected[i], got[i]), "") << p.name << ", " << program.params[i].name;
  }
  return expected;
}

}  // namespace scopes

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  scopes::with_objects = argc == 2 && std::string(argv[1]) == "--compiled";
  return RUN_ALL_TESTS();
}
