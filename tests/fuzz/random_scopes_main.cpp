// random_scopes [COUNT] [SEED] [--compiled]: random programs with scopes; what the importer makes of them computes what their
// steps say, through the interpreter and, with --compiled, as an object on one thread and on three. The first difference is
// printed as a program and ends the run with 1.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>

#include "compiler/interp/interpret.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/rangeify/scalar_kernels.h"
#include "generator/import.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/random_scopes.h"
#include "tests/fuzz/run_scopes.h"
#include "tests/run/compiled.h"

namespace kiln::test {
namespace {

using namespace compiler;

std::vector<Cells> arguments(std::int64_t n, Random& random) {
  std::vector<Cells> out = {{{n}, {}}, {{4, 5}, {}}, {{}, {}}, {{n}, {}}, {{3, n}, {}}, {{}, {}}, {{n}, {}}};
  for (Cells& c : out) {
    std::int64_t count = 1;
    for (const std::int64_t e : c.extents) count *= e;
    for (std::int64_t i = 0; i < count; ++i)
      c.v.push_back(&c == &out.back() ? 0 : static_cast<std::int32_t>(random.pick(-12, 12)));
  }
  return out;
}
std::vector<Array> arrays(const std::vector<Cells>& cells) {
  std::vector<Array> out;
  for (const Cells& c : cells) {
    Array a{DType::i32, c.extents, std::vector<std::byte>(c.v.size() * 4)};
    if (!c.v.empty()) std::memcpy(a.data.data(), c.v.data(), a.data.size());
    out.push_back(std::move(a));
  }
  return out;
}

std::string wrong(const char* who, const Program& p, const std::vector<Array>& expected, const std::vector<Array>& got) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (p.params[i].direction == Direction::in) continue;
    const std::string d = compiler::testing::difference(expected[i], got[i]);
    if (!d.empty()) return std::string(who) + ", " + p.params[i].name + ": " + d;
  }
  return "";
}

// What is wrong with the program of this seed; `runs` counts calls of objects.
std::string check(std::uint64_t seed, bool compiled, long& runs) {
  tables::Tables made = random_scopes(seed);
  const record::program& table = made.get();
  Graph g;
  std::string text;
  try {
    const Program p = generator::import_program(g, table);
    text = write_program(g, p, {.locations = false});
    Program q = p;
    scalar_kernels(g, q);
    verify(g, q);
    Random random(seed);
    std::unique_ptr<compiler::testing::CompiledProgram> object;
    if (compiled) object = std::make_unique<compiler::testing::CompiledProgram>(g, p);
    for (const std::int64_t n : {0, 1, 5, 19}) {
      const auto before = arguments(n, random);
      const auto given = arrays(before), expected = arrays(run_scopes(table, before, n));
      std::string d = wrong("interpreter", p, expected, interpret(g, p, given));
      if (d.empty()) d = wrong("scalar_kernels", p, expected, interpret(g, q, given));
      for (const int workers : {1, 3})
        if (object && d.empty()) ++runs, d = wrong("object", p, expected, (*object)(given, workers));
      if (!d.empty()) return "N = " + std::to_string(n) + ": " + d + "\n" + text;
    }
  } catch (const std::exception& e) {
    return std::string(e.what()) + "\n" + text;
  }
  return "";
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  const bool compiled = argc > 1 && std::string(argv[argc - 1]) == "--compiled";
  const auto number = [&](int i, std::uint64_t otherwise) {
    return i < argc - (compiled ? 1 : 0) ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::uint64_t count = number(1, 1000), first = number(2, 0);
  long runs = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string problem = kiln::test::check(seed, compiled, runs);
    if (problem.empty()) continue;
    std::cout << "seed " << seed << ": " << problem << "\n";
    return 1;
  }
  std::cout << count << " programs, " << runs << " calls of objects, 0 differences\n";
}
