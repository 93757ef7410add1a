#include "compiler/pipeline/run_passes.h"

#include <algorithm>
#include <map>

#include "compiler/ir/call_symbols.h"
#include "compiler/ir/compact.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/symbols.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/tile_steps.h"
#include "compiler/races/store_races.h"
#include "compiler/rangeify/loops_from_zero.h"
#include "compiler/schedule/segments.h"

namespace kiln::compiler {
namespace {

void run_step(const Pass& pass, Graph& g, Lowering& k) {
  if (pass.takes == Takes::kernel || (pass.takes == Takes::explicit_kernel) == k.is_explicit) std::get<2>(pass.run)(g, k);
}

// Adds begin <= counter < end for the counters that the kernel uses, of the loops around it.
void assume_counters(Graph& g, const Schedule& s, const Kernel& k, Facts& facts) {
  const std::vector<Id> nodes = g.reachable(k.sink);
  for (int loop = k.loop; loop >= 0; loop = nth(s.loops, loop).parent) {
    const HostLoop& l = nth(s.loops, loop);
    if (l.counter == no_id || !std::ranges::binary_search(nodes, l.counter)) continue;
    assume(g, facts, g.make(Op::LT, DType::boolean, {l.counter, l.end}));
    assume(g, facts, g.make(Op::LE, DType::boolean, {l.begin, l.counter}));
  }
}

class Driver {
 public:
  Driver(const Graph& g, Schedule begin, const PassOptions& options) : options_(options) {
    out_.schedule = std::move(begin);
    out_.graph = compact(g, out_.schedule);
    out_.graph.set_remarks(options.remarks);
  }

  Scheduled run() {
    check_disabled();
    const std::span<const Pass> todo = passes().subspan(first());
    verify_state();
    for (const Pass& pass : todo) {
      if (&pass == &passes()[1]) check_races();
      const Schedule before = out_.schedule;
      const std::size_t nodes = out_.graph.size();
      if (std::ranges::find(options_.disabled, pass.name) == options_.disabled.end()) run(pass);
      const bool is_same = out_.graph.size() == nodes && out_.schedule == before;
      out_.schedule.after = pass.name;
      finish(pass, is_same && form_after(before.after) == pass.leaves);
      if (pass.name == options_.last) break;
    }
    return std::move(out_);
  }

 private:
  void check_disabled() const {
    std::string optional;
    for (const Pass& p : passes())
      if (p.need == Need::optional) optional += (optional.empty() ? "" : ", ") + std::string(p.name);
    for (const std::string& name : options_.disabled)
      if (pass_named(name).need == Need::required)
        throw Diagnostic("E-pass", "--disable",
                         "expected a pass that programs compile without (" + optional + "), got " + name);
  }

  // The index of the first pass to run.
  std::size_t first() const {
    const Schedule& s = out_.schedule;
    if (s.after.empty() && !s.kernels.empty())
      throw Diagnostic("E-pass", "", "expected `after PASS` in the first line of a schedule with kernels, got none");
    if (s.after.empty()) return 0;
    return static_cast<std::size_t>(&pass_named(s.after) - passes().data()) + 1;
  }

  void run(const Pass& pass) {
    Graph& g = out_.graph;
    Schedule& s = out_.schedule;
    if (options_.remarks != nullptr) options_.remarks->set_pass(pass.name);
    switch (pass.takes) {
      case Takes::program:
        return in_segments(g, s, [&](Graph& h, Schedule& segment) { std::get<0>(pass.run)(h, segment.program); });
      case Takes::segment: return in_segments(g, s, std::get<1>(pass.run));
      case Takes::schedule: return std::get<1>(pass.run)(g, s);
      default: break;
    }
    if (kernels_.empty()) begin_lowering();
    for (Lowering& k : kernels_) run_step(pass, g, k);
  }

  void begin_lowering() {
    Graph& g = out_.graph;
    const Schedule& s = out_.schedule;
    check_run(g, s);
    const SymbolIndex symbols(s.program.symbols);
    std::map<std::pair<Id, std::vector<Id>>, std::size_t> lowered_as;  // equal kernels are lowered once
    for (const Kernel& k : s.kernels) {
      std::vector<Id> used = tile_sizes_of(s, k);
      const auto [at, fresh] = lowered_as.try_emplace({k.sink, used}, kernels_.size());
      kernel_of_.push_back(at->second);
      if (!fresh) continue;
      std::erase(used, no_id);
      used.push_back(k.sink);
      Facts facts = facts_of(symbols.in(g, used));
      assume_counters(g, s, k, facts);
      kernels_.push_back(compiler::begin_lowering(g, s, k, facts, options_.target));
      if (options_.make_plan) kernels_.back().make_plan = options_.make_plan;
    }
  }

  // Completes the state after a pass, checks it and shows it. is_same: the pass changed nothing.
  void finish(const Pass& pass, bool is_same) {
    Schedule& s = out_.schedule;
    if (!s.kernels.empty()) s.program.sink = no_id;  // the kernels replace it
    if (pass.leaves == Form::lowered) end_lowering();
    if (pass.leaves == Form::lowering) {
      if (options_.done) show_kernels(pass);
      return;
    }
    if (!is_same) {
      out_.graph = compact(out_.graph, s);
      if (pass.leaves > Form::tensors) verify_state();
    }
    if (options_.done) options_.done(pass, out_.graph, s);
  }

  void end_lowering() {
    for (std::size_t i = 0; i < kernel_of_.size(); ++i) {
      out_.schedule.lowered.push_back(kernels_[kernel_of_[i]].out);
      out_.schedule.kernels[i].sink = out_.schedule.lowered.back().sink;
    }
  }

  void show_kernels(const Pass& pass) const {
    Schedule s = out_.schedule;
    for (std::size_t i = 0; i < kernel_of_.size(); ++i) s.kernels[i].sink = kernels_[kernel_of_[i]].out.sink;
    const Graph g = compact(out_.graph, s);
    options_.done(pass, g, s);
  }

  // Verifies the input, and the result of each pass except passes over tensors, for which it is most expensive.
  void verify_state() {
    Schedule& s = out_.schedule;
    if (!options_.verify && form_after(s.after) != Form::lowering) return;
    verify(out_.graph, s, form_after(s.after));
    if (s.kernels.empty()) out_.graph = compact(out_.graph, s);  // removes nodes that the verifier made for extents
  }

  // Runs behind `differentiate`, whose kernels must pass too, and before the other passes, which rely on the result. No RANGE
  // is negative from here on.
  void check_races() {
    Schedule& s = out_.schedule;
    loops_from_zero(out_.graph, s.program);
    store_races(out_.graph, s.program);
    out_.graph = compact(out_.graph, s);
  }

  const PassOptions& options_;
  Scheduled out_;
  std::vector<Lowering> kernels_;       // kernels that differ
  std::vector<std::size_t> kernel_of_;  // by kernel of the schedule
};

}  // namespace

LoweredKernel lower_kernel(Graph& g, const Schedule& s, const Kernel& kernel, const Facts& facts, const Target& target) {
  Lowering k = begin_lowering(g, s, kernel, facts, target);
  for (const Pass& pass : passes())
    if (pass.leaves >= Form::lowering) run_step(pass, g, k);
  return k.out;
}

Scheduled run_passes(const Graph& graph, Schedule begin, const PassOptions& options) {
  return Driver(graph, std::move(begin), options).run();
}

Scheduled run_passes(const Graph& graph, const Program& program, const PassOptions& options) {
  Schedule begin;
  begin.program = program;
  return run_passes(graph, std::move(begin), options);
}

}  // namespace kiln::compiler
