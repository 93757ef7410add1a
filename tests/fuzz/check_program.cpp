#include "tests/fuzz/check_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/shapes.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/compile.h"
#include "tests/fuzz/child.h"
#include "tests/fuzz/plan_problem.h"
#include "tests/fuzz/random_plan.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_object.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t most_elements = 400'000;          // of one value of a program with symbols
constexpr std::int64_t most_elements_fixed = 4'000'000;  // of one value of a program without symbols
constexpr double most_compile_seconds = 10 * sanitizer_cost;

// A target with the plans of one and the instructions of another.
Target with_plans_of(const Target& plans, Target instructions) {
  instructions.vector_bytes = plans.vector_bytes;
  instructions.vector_registers = plans.vector_registers;
  instructions.index_bits = plans.index_bits;
  return instructions;
}

template <class T>
T random_element(Draw& draw, int style) {
  static const double specials[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1e-42, 65504, 1e30, 2147483648.0, -1e19};
  if (style == 2 && draw.one_in(6)) return scalar::convert<T>(specials[draw.below(10)]);
  if (style == 1) return scalar::convert<T>(static_cast<double>(draw.between(-4000, 4000)) / 61);
  return scalar::convert<T>(static_cast<double>(draw.between(-8, 8)));
}

Array random_array(const Parameter& q, std::vector<std::int64_t> extents, Draw& draw) {
  Array a{q.dtype, std::move(extents), {}};
  a.data.resize(a.elements() * static_cast<std::size_t>(bytes(a.dtype)));
  const int style = draw.of(std::array{0, 0, 1, 1, 2});
  visit_type(a.dtype, [&]<class T>() {
    for (std::size_t i = 0; i < a.elements(); ++i) {
      const T v = random_element<T>(draw, style);
      std::memcpy(a.data.data() + i * sizeof v, &v, sizeof v);
    }
  });
  return a;
}

bool is_extent(const Symbol& s) { return s.kind == Symbol::Kind::extent; }

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Case {
  SymbolValues symbols;
  std::vector<Array> arguments, expected;
};

// The cases in which the program is defined, with their results.
std::vector<Case> cases_of(Graph& g, const Program& p, std::uint64_t seed) {
  std::vector<Case> cases;
  for (const SymbolValues& symbols : symbol_choices(p, seed)) {
    auto arguments = random_arguments(g, p, symbols, seed + cases.size());
    if (!arguments) continue;
    try {
      std::vector<Array> expected = interpret(g, p, *arguments);
      cases.push_back({symbols, std::move(*arguments), std::move(expected)});
    } catch (const Diagnostic&) {  // the values break a fact, or an empty axis has no element to repeat
    }
  }
  return cases;
}

class Checker {
 public:
  Checker(const std::string& text, std::uint64_t seed, const CheckOptions& options)
      : program_(read_program(graph_, text, "program")), seed_(seed), options_(options) {}

  CheckResult run() {
    verify(graph_, program_);
    const std::vector<Case> cases = cases_of(graph_, program_, seed_);
    if (options_.reference) check_reference(cases);
    const std::vector<NamedTarget> all = targets();
    const std::size_t left_out = seed_ % 2;  // v3 or v4
    for (std::size_t i = 0; i < all.size(); ++i)
      for (int plan = 0; plan < std::max(1, options_.plans); ++plan)
        if (i != left_out && !result_.finding) check(all[i], plan, cases);
    return std::move(result_);
  }

 private:
  void fail(std::string kind, std::string text) { result_.finding = Finding{std::move(kind), std::move(text)}; }

  void check_reference(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      const std::vector<Array> other = options_.reference(c.symbols, c.arguments);
      for (std::size_t i = 0; i < other.size(); ++i) {
        if (program_.params[i].direction == Direction::in) continue;
        if (const std::string d = difference(other[i], c.expected[i]); !d.empty())
          return fail("reference", program_.params[i].name + ' ' + d);
      }
      ++result_.references;
    }
  }

  // Compiles for the target, or with the instructions of x86-64-v3 if the program has an fma and the target has none.
  Compiled compile_for(const Target& target, int plan) const {
    CompileOptions options;
    if (options_.plans > 0) options.make_plan = random_plans(seed_ * 1000 + static_cast<std::uint64_t>(plan));
    options.targets = {target};
    options.disabled = options_.disabled;
    try {
      return compile(graph_, program_, options);
    } catch (const Diagnostic& d) {
      if (d.id() != "E-target" || target.has_fma) throw;
    }
    options.targets = {with_plans_of(target, target_named("x86-64-v3"))};
    return compile(graph_, program_, options);
  }

  void check(const NamedTarget& t, int plan, const std::vector<Case>& cases) {
    Compiled c;
    const double start = cpu_seconds();
    try {
      c = compile_for(t.target, plan);
    } catch (const std::exception& e) {
      return fail(std::string("compile ") + t.name, e.what());
    }
    const double seconds = cpu_seconds() - start;
    result_.compile_seconds = std::max(result_.compile_seconds, seconds);
    const Graph& g = c.variants[0].graph;
    const Schedule& schedule = c.variants[0].schedule;
    result_.kernels = static_cast<int>(schedule.kernels.size());
    if (seconds > most_compile_seconds) return fail(std::string("time ") + t.name, std::to_string(seconds) + " s");
    const RunnableObject object(c.code.object, program_);
    for (const Case& k : cases) {
      if (const std::string problem = order_problem(g, schedule, k.symbols); !problem.empty()) return fail("order", problem);
      std::vector<std::int64_t> symbols;
      for (const Symbol& s : program_.symbols) symbols.push_back(is_extent(s) ? k.symbols.at(s.name) : 0);
      if (const std::string problem = plan_problem(g, schedule, object.description(), symbols); !problem.empty())
        return fail("plan", problem);
      for (const Execution how : executions) {
        if (const std::string problem = object.compare(k.arguments, k.expected, how); !problem.empty())
          return fail(std::string("run ") + t.name + ' ' + name(how), problem);
        ++result_.runs;
      }
    }
  }

  Graph graph_;
  Program program_;
  std::uint64_t seed_;
  const CheckOptions& options_;
  CheckResult result_;
};

}  // namespace

std::vector<NamedTarget> targets() {
  Target narrow = target_named("x86-64-v2");
  narrow.vector_registers = 4;
  narrow.index_bits = 64;
  Target v4 = target_named("x86-64-v4");
  if (!__builtin_cpu_supports("x86-64-v4")) {  // what this machine has; registers of 64 bytes stand for instructions
    const Target v3 = target_named("x86-64-v3");
    v4 = with_plans_of(v4, v3);
    v4.vector_bytes = v3.vector_bytes;
  }
  return {{"v3", Target{}}, {"v4", v4}, {"narrow", narrow}};
}

std::vector<SymbolValues> symbol_choices(const Program& p, std::uint64_t seed) {
  if (std::ranges::none_of(p.symbols, is_extent)) return {{}, {}};
  Draw draw(seed);
  std::vector<SymbolValues> out;
  for (int round = 0; round < 4; ++round) {
    SymbolValues& values = out.emplace_back();
    for (const Symbol& s : p.symbols) {
      if (!is_extent(s)) continue;
      const std::int64_t v = s.min + (round == 0 ? 0 : round == 1 ? draw.below(3) : draw.below(40));
      values[s.name] = std::min((v + s.multiple_of - 1) / s.multiple_of, s.max / s.multiple_of) * s.multiple_of;
    }
  }
  return out;
}

std::optional<std::vector<Array>> random_arguments(Graph& g, const Program& p, const SymbolValues& symbols, std::uint64_t seed,
                                                   std::int64_t most_elements_together) {
  IndexValues value(g, symbols);
  Shapes shapes(g);
  const Id roots[] = {p.sink};
  const std::int64_t most = symbols.empty() ? most_elements_fixed : most_elements;
  std::int64_t together = 0;
  for (const Id id : g.reachable(roots)) {
    std::int64_t n = 1;
    for (const Id e : shapes.of(id)) {
      const auto v = value(e);
      if (!v || *v < 0 || (n *= *v) > most) return std::nullopt;
    }
    if ((together += n) > most_elements_together) return std::nullopt;
  }
  Draw draw(seed);
  std::vector<Array> out;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    std::int64_t n = 1;
    for (const Id e : q.extents) {
      extents.push_back(value(e).value());
      if (extents.back() < 0 || (n *= extents.back()) > most) return std::nullopt;
    }
    const bool same = q.direction == Direction::in && !out.empty() && out.back().dtype == q.dtype &&
                      out.back().extents == extents && draw.one_in(2);
    out.push_back(same ? out.back() : random_array(q, std::move(extents), draw));
  }
  return out;
}

CheckResult check_program(const std::string& text, std::uint64_t seed, const CheckOptions& options) {
  return Checker(text, seed, options).run();
}

}  // namespace kiln::compiler::testing
