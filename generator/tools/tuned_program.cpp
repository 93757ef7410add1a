#include "generator/tools/tuned_program.h"

#include <algorithm>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/kernel_time.h"
#include "compiler/lower/plan_text.h"
#include "compiler/pipeline/compile.h"
#include "generator/generated_names.h"
#include "generator/outputs.h"
#include "generator/tools/plan_neighbours.h"

namespace kiln::generator {

using namespace compiler;

namespace {

// kiln-tune makes only plans that are legal.
PlanMaker plans_of(const Tuning& tuning) {
  return tuned_plans(tuning, [](const std::string& message) { throw std::logic_error(message); });
}

}  // namespace

TunedProgram::TunedProgram(const std::string& file, const Target& target) : target_(target) {
  Graph g;
  const Program p = read_program(g, read_file(file), file);
  verify(g, p);
  PassOptions options;
  options.target = target;
  options.last = last_pass(Form::planned);
  planned_ = run_passes(g, p, options);
}

PassOptions TunedProgram::with(const PlanMaker& plans) const {
  PassOptions options;
  options.target = target_;
  options.verify = false;
  options.make_plan = plans;
  return options;
}

std::vector<std::pair<std::uint64_t, std::string>> TunedProgram::plans(const Tuning& tuning) const {
  std::vector<std::pair<std::uint64_t, std::string>> out;
  const PlanMaker make = plans_of(tuning);
  run_passes(planned_.graph, planned_.schedule,
             with([&](const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
               std::vector<LoopPlan> plan = make(g, stores, ranges, target);
               const std::uint64_t key = kernel_key(g, stores, ranges);
               if (!plan.empty() && std::ranges::find(out, key, &std::pair<std::uint64_t, std::string>::first) == out.end())
                 out.emplace_back(key, plan_text(g, ranges, plan));
               return plan;
             }));
  return out;
}

std::vector<std::string> TunedProgram::neighbours(const Tuning& tuning, std::uint64_t kernel) const {
  std::vector<std::string> out;
  const PlanMaker make = plans_of(tuning);
  run_passes(planned_.graph, planned_.schedule,
             with([&](const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
               std::vector<LoopPlan> plan = make(g, stores, ranges, target);
               if (out.empty() && kernel_key(g, stores, ranges) == kernel)
                 for (const std::vector<LoopPlan>& n : plan_neighbours(g, stores, ranges, plan, target))
                   out.push_back(plan_text(g, ranges, n));
               return plan;
             }));
  return out;
}

double TunedProgram::predicted(const Tuning& tuning) const {
  const Scheduled s = run_passes(planned_.graph, planned_.schedule, with(plans_of(tuning)));
  double all = 0;
  for (const LoweredKernel& k : s.schedule.lowered) all += kernel_time(s.graph, k, target_);
  return all;
}

std::string TunedProgram::object(const Tuning& tuning) const {
  CompileOptions options;
  options.targets = {target_};
  options.symbol_prefix = symbol_prefix("tuned");
  options.outputs = {true, false, false};
  options.verify = false;
  options.make_plan = plans_of(tuning);
  return compile(planned_.graph, planned_.schedule, options).code.object;
}

}  // namespace kiln::generator
