// Every operation of the DSL, as a user writes it, on every dtype that it accepts: captured, imported, compiled and run. With
// 1 and 3 workers the compiled object equals the interpreter bit for bit, and both agree with the reference of
// *_reference.cpp. Each run writes its part of the table to the file KILN_OPERATIONS_TABLE, from which operations_page.py
// makes docs/reference/operations.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <unordered_map>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/verify.h"
#include "generator/import.h"
#include "generator/registry.h"
#include "tests/run/compiled.h"
#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

using Values = std::map<std::string, std::int64_t>;

const std::map<std::string, Family>& families() {
  static const auto all = [] {
    std::map<std::string, Family> m;
    for (const auto& list : {elementwise_families(), movement_families(), reduction_families()})
      for (const Family& f : list) m.emplace(f.name, f);
    return m;
  }();
  return all;
}

// Lines `result|spelling|dtype|symbolic or static|ok or FAIL` and `accepts|spelling|dtype|yes or no`.
class Table {
 public:
  ~Table() {
    const char* file = std::getenv("KILN_OPERATIONS_TABLE");
    if (file == nullptr) return;
    std::ofstream out(file);
    for (const auto& [line, ok] : results_) out << "result|" << line << (ok ? "|ok\n" : "|FAIL\n");
    for (const Accepted& a : accepted())
      for (std::size_t d = 0; d < a.dtypes.size(); ++d)
        out << "accepts|" << a.spelling << '|' << name(static_cast<DType>(d)) << (a.dtypes[d] ? "|yes\n" : "|no\n");
  }
  void record(const std::string& spelling, DType d, bool symbolic, bool ok) {
    bool& cell =
        results_.try_emplace(spelling + "|" + std::string(name(d)) + (symbolic ? "|symbolic" : "|static"), true).first->second;
    cell = cell && ok;
  }

 private:
  std::map<std::string, bool> results_;
};
Table table;

std::vector<Values> sizes_of(const Program& p) {
  if (p.symbols.empty()) return {{}};
  const std::map<std::string, std::vector<std::int64_t>> sizes = {
      {"S", {0, 1, 7, 131, 1201}}, {"B", {1, 0, 2, 3, 1}},        {"N", {0, 1, 7, 33, 5}}, {"M", {5, 4, 13, 7, 33}},
      {"K", {3, 1, 0, 7, 131}},    {"L", {1, 0, 131, 70001, 31}}, {"H", {6, 5, 7, 9, 11}}, {"W", {5, 7, 6, 11, 13}}};
  std::vector<Values> all(5);
  for (const Symbol& s : p.symbols)
    for (std::size_t i = 0; i < all.size(); ++i) all[i][s.name] = std::max(s.min, sizes.at(s.name)[i]);
  return all;
}

// Values for the symbols: of vectors, or of the other programs. They equal the extents in operations.cmake.
std::vector<Values> fixed_sizes(const Program& p) {
  if (p.symbols.empty()) return {};
  if (p.symbols[0].name == "S") return {{{"S", 0}}, {{"S", 1}}, {{"S", 1201}}};
  std::vector<Values> all;
  for (const auto& [first, second, third] : {std::array{7, 5, 13}, std::array{1, 6, 9}, std::array{0, 5, 0}})
    all.push_back({{"B", first}, {"N", first}, {"M", second}, {"H", second}, {"K", third}, {"L", third}, {"W", third}});
  // The axis of a sliding window, or of a maximum, must not be empty.
  std::erase_if(all, [&](const Values& v) {
    return std::ranges::any_of(p.symbols, [&](const Symbol& s) { return v.at(s.name) < s.min; });
  });
  return all;
}

// The program with these numbers instead of its symbols.
Program with_extents(Graph& g, Program p, const Values& values) {
  IndexValues value(g, values);
  std::unordered_map<Id, Id> numbers;
  const std::vector<Id> nodes = g.reachable(std::array{p.sink});
  for (const Id id : nodes)
    if (g.dtype(id) == DType::index)
      if (const auto v = value(id)) numbers.emplace(id, g.index(*v));
  p.sink = substitute(g, p.sink, numbers);
  for (Parameter& q : p.params)
    for (Id& e : q.extents) e = g.index(*value(e));
  p.symbols.clear();
  verify(g, p);
  return p;
}

// All pairs of special values for the first two parameters of a dtype; random triples.
Bits combination(DType d, std::size_t parameter, std::size_t i, std::mt19937& random) {
  const auto v = special_values(d);
  if (parameter > 1 || i >= v.size() * v.size()) return v[random() % v.size()];
  return v[parameter == 0 ? i / v.size() : i % v.size()];
}

class OperationsTest {
 public:
  OperationsTest(Graph& g, Program p)
      : graph_(g),
        program_(std::move(p)),
        compiled_(graph_, program_),
        family_(families().at(program_.name.substr(0, program_.name.find('_')))) {}

  void run() {
    const bool pairs = family_.fill == Fill::combinations;
    for (const Values& v : sizes_of(program_))
      for (const Data data : {Data::plain, Data::special, Data::cancelling}) {
        if (data != Data::special && (pairs || !is_float(column()))) continue;
        call(v, data);
      }
  }
  DType column() const { return program_.params[0].dtype; }

  // Records that the program was rejected.
  static void reject(const dsl::record::program& p) {
    const std::string name = p.name;
    for (const Operation& o : families().at(name.substr(0, name.find('_'))).operations)
      table.record(o.spelling, static_cast<DType>(p.params[0].d), p.n_symbols > 0, false);
  }

 private:
  void call(const Values& values, Data data) {
    SCOPED_TRACE(program_.name + " with " + ::testing::PrintToString(values) + ", data " +
                 std::to_string(static_cast<int>(data)));
    std::mt19937 random(11);
    IndexValues value(graph_, values);
    std::map<std::string, Tensor> inputs;
    std::vector<Array> arguments;
    for (std::size_t k = 0; k < program_.params.size(); ++k) {
      const Parameter& p = program_.params[k];
      Tensor t{p.dtype, {}, {}};
      for (const Id e : p.extents) t.extents.push_back(*value(e));
      std::size_t i = 0;
      if (p.direction != Direction::out)
        t = tabulate(p.dtype, t.extents, [&](const Extents&) {
          return family_.fill == Fill::combinations ? combination(p.dtype, k, i++, random)
                                                    : random_element(p.dtype, data, random);
        });
      arguments.push_back(array_of(t));
      inputs.emplace(p.name, std::move(t));
    }
    check(inputs, arguments);
  }

  void check(const std::map<std::string, Tensor>& inputs, const std::vector<Array>& arguments) {
    const auto interpreted = interpret(graph_, program_, arguments);
    const auto one = compiled_(arguments, 1), three = compiled_(arguments, 3);
    for (std::size_t k = 0; k < program_.params.size(); ++k) {
      const Parameter& p = program_.params[k];
      if (p.direction == Direction::in) continue;
      const Operation& o = operation(p.name);
      const Call call{inputs, p.name, p.dtype, arguments[k].extents};
      const std::string reference = difference(o.reference(call), tensor_of(interpreted[k])),
                        single = difference(interpreted[k], one[k]), parallel = difference(interpreted[k], three[k]);
      EXPECT_EQ(reference, "") << o.spelling << ": reference and interpreter, " << p.name;
      EXPECT_EQ(single, "") << o.spelling << ": interpreter and compiled, " << p.name;
      EXPECT_EQ(parallel, "") << o.spelling << ": interpreter and 3 workers, " << p.name;
      table.record(o.spelling, column(), !program_.symbols.empty(), reference.empty() && single.empty() && parallel.empty());
    }
  }

  const Operation& operation(const std::string& output) const {
    for (const Operation& o : family_.operations)
      if (o.output == output) return o;
    throw std::logic_error("no reference for " + family_.name + "." + output);
  }

  Graph& graph_;
  const Program program_;
  const CompiledProgram compiled_;
  const Family& family_;
};

class Operations : public ::testing::TestWithParam<const dsl::record::program*> {};

TEST_P(Operations, EqualInterpreterAndReference) {
  try {
    Graph g;
    const Program p = generator::import_program(g, *GetParam());
    OperationsTest(g, p).run();
    for (const Values& v : fixed_sizes(p)) OperationsTest(g, with_extents(g, p, v)).run();
  } catch (...) {  // every cell gets a result
    OperationsTest::reject(*GetParam());
    throw;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Operations, ::testing::ValuesIn(generator::registered_programs()),
                         [](const auto& p) { return std::string(p.param->name); });

}  // namespace
}  // namespace kiln::compiler::testing
