#include "compiler/pipeline/pipeline.h"

#include <algorithm>
#include <map>

#include "compiler/ir/compact.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/symbols.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/phases.h"
#include "compiler/races/store_races.h"
#include "compiler/schedule/make_schedule.h"

namespace kiln::compiler {
namespace {

constexpr std::string_view lowering = "lower";

void lower(Graph& g, Schedule& s, const Target& target) {
  std::map<std::pair<Id, std::vector<Id>>, LoweredKernel> done;  // equal kernels are lowered once
  const SymbolIndex symbols(s.program.symbols);
  for (Kernel& k : s.kernels) {
    std::vector<Id> in_kernel = windows_of(s, k);
    const auto [at, fresh] = done.try_emplace({k.sink, in_kernel});
    std::erase(in_kernel, no_id);
    in_kernel.push_back(k.sink);
    if (fresh) at->second = lower_kernel(g, s, k, facts_of(symbols.in(g, in_kernel)), target);
    s.lowered.push_back(at->second);
    k.sink = at->second.sink;
  }
}

class Pipeline {
 public:
  Pipeline(const Graph& g, Schedule begin, const CompileOptions& options) : options_(options) {
    out_.schedule = std::move(begin);
    out_.graph = compact(g, out_.schedule);
  }

  Compiled run() {
    std::vector<std::string_view> todo = pass_names();
    todo.erase(todo.begin(), todo.begin() + first());
    verify_state();
    check_races();
    for (const std::string_view pass : todo) {
      run(pass);
      out_.graph = compact(out_.graph, out_.schedule);
      if (form_after(pass) > Form::tensors) verify_state();
      if (options_.done) options_.done(pass);
      if (wants(pass)) options_.dump(pass, write_schedule(out_.graph, out_.schedule));
      if (pass == options_.last) return std::move(out_);
    }
    out_.code =
        generate(out_.graph, out_.schedule, out_.schedule.lowered, {options_.target, options_.symbol_prefix}, options_.outputs);
    if (options_.done) options_.done("codegen");
    return std::move(out_);
  }

 private:
  // The index of the first pass to run.
  std::ptrdiff_t first() const {
    const Schedule& s = out_.schedule;
    form_after(s.after);  // throws for an unknown name
    if (s.after.empty() && !s.kernels.empty())
      throw Diagnostic("E-pass", "", "expected `after PASS` in the first line of a schedule with kernels, got none");
    const auto names = pass_names();
    return s.after.empty() ? 0 : std::ranges::find(names, s.after) - names.begin() + 1;
  }

  void run(std::string_view pass) {
    Schedule& s = out_.schedule;
    if (pass == lowering)
      lower(out_.graph, s, options_.target);
    else
      std::ranges::find(schedule_passes(), pass, &SchedulePass::name)->run(out_.graph, s);
    s.after = pass;
    if (!s.kernels.empty()) s.program.sink = no_id;  // the kernels replace it
  }

  // Verifies the input, and the result of each pass except passes over tensors, for which it is most expensive.
  void verify_state() {
    if (!options_.verify) return;
    Schedule& s = out_.schedule;
    verify(out_.graph, s, form_after(s.after));
    if (s.kernels.empty()) out_.graph = compact(out_.graph, s);  // removes nodes that the verifier made for extents
  }

  // Runs before the first pass, because passes rely on the result.
  void check_races() {
    Schedule& s = out_.schedule;
    if (!s.after.empty()) return;
    store_races(out_.graph, s.program);
    out_.graph = compact(out_.graph, s);
  }

  bool wants(std::string_view pass) const {
    return options_.dump &&
           std::ranges::any_of(options_.dump_after, [&](const std::string& n) { return n == "all" || n == pass; });
  }

  const CompileOptions& options_;
  Compiled out_;
};

void check_pass_names(const CompileOptions& options) {
  const auto known = pass_names();
  for (const std::string& n : options.dump_after)
    if (n != "all" && std::ranges::find(known, n) == known.end())
      throw Diagnostic("E-pass", "", "unknown pass '" + n + "'; --help lists the passes");
}

}  // namespace

Form form_after(std::string_view pass) {
  if (pass.empty()) return Form::program;
  if (pass == lowering) return Form::lowered;
  const auto passes = schedule_passes();
  const auto at = std::ranges::find(passes, pass, &SchedulePass::name);
  if (at == passes.end())
    throw Diagnostic("E-pass", "", "unknown pass '" + std::string(pass) + "'; `kiln-opt passes` lists them");
  return at->leaves;
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const SchedulePass& p : schedule_passes()) names.push_back(p.name);
  names.push_back(lowering);
  return names;
}

Compiled compile(const Graph& graph, Schedule begin, const CompileOptions& options) {
  check_pass_names(options);
  return Pipeline(graph, std::move(begin), options).run();
}

Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options) {
  Schedule begin;
  begin.program = program;
  return compile(graph, std::move(begin), options);
}

}  // namespace kiln::compiler
