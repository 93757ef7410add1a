#include "tests/fuzz/first_broken_pass.h"

#include <cstring>
#include <map>

#include "compiler/interp/interpret.h"
#include "compiler/ir/compact.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/entry_values.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/run_passes.h"
#include "tests/fuzz/check_program.h"
#include "tests/fuzz/plan_problem.h"
#include "tests/run/compiled.h"
#include "tests/unit/lower_harness.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {
namespace {

Data data_of(const Array& a) {
  Data out(a.elements());
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint64_t bits = 0;
    const auto size = static_cast<std::size_t>(bytes(a.dtype));
    std::memcpy(&bits, a.data.data() + i * size, size);
    out[i] = scalar_of(a.dtype, bits);
  }
  return out;
}

struct Case {
  Symbols symbols;
  std::vector<Array> arguments, expected;
  std::vector<Data> before;
};

void add_dense_strides(const Parameter& p, const Array& a, Symbols& symbols) {
  std::int64_t stride = 1;
  for (std::size_t axis = a.extents.size(); axis-- > 0;) {
    if (static_cast<int>(axis) < p.free_strides) symbols[stride_name(p, axis)] = stride;
    stride *= a.extents[axis];
  }
}

std::vector<Case> cases_of(Graph& g, const Program& p, std::uint64_t seed) {
  std::vector<Case> out;
  for (const SymbolValues& symbols : symbol_choices(p, seed)) {
    auto arguments = random_arguments(g, p, symbols, seed + out.size(), 500'000);
    if (!arguments) continue;
    try {
      Case c{symbols, *arguments, interpret(g, p, *arguments), {}};
      for (std::size_t i = 0; i < p.params.size(); ++i) add_dense_strides(p.params[i], c.arguments[i], c.symbols);
      for (const Array& a : c.arguments) c.before.push_back(data_of(a));
      out.push_back(std::move(c));
    } catch (const Diagnostic&) {  // the program is not defined for these values
    }
  }
  return out;
}

std::string difference_of(const Program& p, const Case& c, const std::vector<Data>& got) {
  for (std::size_t b = 0; b < p.params.size(); ++b) {
    if (p.params[b].direction == Direction::in) continue;
    const Data want = data_of(c.expected[b]);
    for (std::size_t i = 0; i < want.size(); ++i)
      if (!same(p.params[b].dtype, want[i], got[b][i])) return p.params[b].name + " element " + std::to_string(i);
  }
  return {};
}

// Evaluates the program after each pass, up to the first wrong result.
class Stages {
 public:
  Stages(const std::string& text, std::uint64_t seed)
      : program_(read_program(g_, text, "program")), cases_(cases_of(g_, program_, seed)) {}

  std::string run() {
    std::string problem, last;
    PassOptions options{.last = std::string(last_pass(Form::planned))};
    options.done = [&](const Pass& pass, const Graph& g, const Schedule& now) {
      last = pass.name;
      if (!problem.empty()) return;
      Schedule s = now;
      g_ = compact(g, s);
      problem = attempt([&] { return problem_after(pass, s); });
      if (!problem.empty()) problem = last + ": " + problem;
    };
    Scheduled end;
    const std::string failed = attempt([&] {
      end = run_passes(g_, program_, options);
      return "";
    });
    if (!problem.empty()) return problem;
    if (!failed.empty()) return "after " + last + ": " + failed;
    g_ = std::move(end.graph);
    for (const NamedTarget& t : targets()) {
      if (is_in_segments(end.schedule)) break;
      problem = attempt([&] { return each([&](const Case& c) { return lowered(end.schedule, c, t.target); }); });
      if (!problem.empty()) return std::string("lowering for ") + t.name + ": " + problem;
    }
    return "none: the machine code, or how it is run";
  }

 private:
  // The evaluators here know no segments, host loops, or numbers that the run sets.
  static bool is_in_segments(const Schedule& s) {
    return !s.segments.empty() || !s.loops.empty() || std::ranges::any_of(s.program.symbols, [](const Symbol& y) {
      return y.kind != Symbol::Kind::extent && y.kind != Symbol::Kind::stride;
    });
  }

  std::string problem_after(const Pass& pass, const Schedule& s) {
    const bool is_ordered = pass.leaves >= Form::ordered;
    std::string d;
    for (const Case& c : cases_)
      if (is_ordered && d.empty()) d = order_problem(g_, s, c.symbols);
    if (is_in_segments(s)) return d;
    if (s.kernels.empty()) return tensor_level(s);
    for (const bool backward : {false, true})
      if (d.empty()) d = each([&](const Case& c) { return run_schedule(g_, s, c.symbols, c.before, backward, !is_ordered); });
    return d;
  }

  template <class F>
  static std::string attempt(F&& f) {
    try {
      return f();
    } catch (const std::exception& e) {
      return e.what();
    }
  }

  template <class F>
  std::string each(F&& run_case) {
    for (const Case& c : cases_)
      if (const std::string d = difference_of(program_, c, run_case(c)); !d.empty()) return d;
    return {};
  }

  // The interpreter can read programs only while their values are whole tensors.
  std::string tensor_level(const Schedule& s) {
    const Id roots[] = {s.program.sink};
    for (const Id id : g_.reachable(roots))
      if (levels(g_.op(id)).find('T') == std::string_view::npos) return {};
    for (const Case& c : cases_) {
      const std::vector<Array> got = interpret(g_, s.program, c.arguments);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (const std::string d = difference(c.expected[i], got[i]); !d.empty()) return program_.params[i].name + ' ' + d;
    }
    return {};
  }

  Data data_of(const Schedule& s, const std::vector<Data>& memory, std::size_t b, const Symbols& symbols) {
    const Buffer& buffer = s.buffers[b];
    if (buffer.param < 0 || buffer.offset == no_id) return memory[b];
    const Data& whole = memory[static_cast<std::size_t>(buffer.param)];
    return {whole.begin() + index_at(g_, buffer.offset, symbols) / bytes(buffer.dtype), whole.end()};
  }

  std::vector<Data> lowered(const Schedule& s, const Case& c, const Target& target) {
    std::vector<Data> memory = c.before;
    for (std::size_t b = memory.size(); b < s.buffers.size(); ++b)
      memory.emplace_back(static_cast<std::size_t>(index_at(g_, s.buffers[b].size, c.symbols)));
    for (const Kernel& k : s.kernels) {
      std::vector<Data> slots;
      for (const int b : k.buffers) slots.push_back(data_of(s, memory, static_cast<std::size_t>(b), c.symbols));
      run_lowered(g_, lower_kernel(g_, s, k, facts_of(s.program), target), c.symbols, slots, 1, entry_slots(s, k));
      for (std::size_t i = 0; i < slots.size(); ++i) memory[static_cast<std::size_t>(k.buffers[i])] = std::move(slots[i]);
    }
    return memory;
  }

  Graph g_;
  Program program_;
  std::vector<Case> cases_;
};

}  // namespace

std::string first_broken_pass(const std::string& text, std::uint64_t seed) { return Stages(text, seed).run(); }

}  // namespace kiln::compiler::testing
