// Random tensor programs: the compiled object against the interpreter of the unoptimised graph, bit for bit.
// KILN_RANDOM_PROGRAMS sets how many (default a short sample).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/compiled.h"
#include "tests/unit/random_program.h"

namespace kiln::compiler::testing {
namespace {

Array random_array(const Parameter& p, std::vector<std::int64_t> extents, std::mt19937& random) {
  Array a{p.dtype, std::move(extents), {}};
  a.data.resize(a.elements() * static_cast<std::size_t>(bytes(a.dtype)));
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const auto r = static_cast<std::int32_t>(random() % 2001) - 1000;
    const float f = random() % 16 == 0 ? std::array{0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f}[random() % 6]
                                       : static_cast<float>(r) / 37.0f;
    if (p.dtype == DType::f32)
      std::memcpy(a.data.data() + 4 * i, &f, 4);
    else
      std::memcpy(a.data.data() + 4 * i, &r, 4);
  }
  return a;
}

std::int64_t value_of(const Graph& g, Id e, const std::map<std::string, std::int64_t>& symbols) {
  return index_at(g, e, symbols);
}

std::vector<Array> random_arguments(Graph& g, const Program& p, std::mt19937& random) {
  Symbols symbols;
  for (const Symbol& s : p.symbols) symbols[s.name] = s.min + static_cast<std::int64_t>(random() % 8);
  std::vector<Array> out;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    for (Id e : q.extents) extents.push_back(value_of(g, e, symbols));
    out.push_back(random_array(q, extents, random));
  }
  return out;
}

// Every symbol must be the whole extent of some parameter: the random programs do not see to it.
bool binds_all_symbols(const Graph& g, Program& p) {
  std::erase_if(p.symbols, [&](const Symbol& s) {
    bool used = false;
    for (const Parameter& q : p.params)
      for (Id e : q.extents) used = used || (g.op(e) == Op::SYM && g.name(e) == s.name);
    return !used;
  });
  const Id roots[] = {p.sink};
  for (Id id : g.reachable(roots))
    if (g.op(id) == Op::SYM && std::ranges::none_of(p.symbols, [&](const Symbol& s) { return s.name == g.name(id); }))
      return false;
  return true;
}

void check(unsigned seed, bool symbolic) {
  Graph g;
  Program p = RandomProgram(g, seed, symbolic).make();
  if (!binds_all_symbols(g, p)) return;
  std::mt19937 random(seed);
  const auto arguments = random_arguments(g, p, random);
  const auto expected = interpret(g, p, arguments);
  const CompiledProgram compiled(g, p);
  for (int workers : {1, 3}) {
    const auto got = compiled(arguments, workers);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(difference(expected[i], got[i]), "") << "seed " << seed << " output " << p.params[i].name << "\n"
                                                     << write_program(g, p);
  }
}

TEST(RandomPrograms, CompiledEqualsInterpreter) {
  const char* wanted = std::getenv("KILN_RANDOM_PROGRAMS");
  const unsigned n = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 150;
  for (unsigned seed = 0; seed < n && !HasFatalFailure(); ++seed) check(seed, seed % 2 == 1);
}

}  // namespace
}  // namespace kiln::compiler::testing
