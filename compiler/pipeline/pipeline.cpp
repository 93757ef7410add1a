#include "compiler/pipeline/pipeline.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/make_schedule.h"

namespace kiln::compiler {
namespace {

constexpr std::string_view lowering = "lower";

// Verifies and prints what the schedule passes hand on.
struct Watcher final : PassObserver {
  explicit Watcher(const CompileOptions& o) : options(o) {}

  bool wants(std::string_view pass) const {
    return options.dump &&
           std::ranges::any_of(options.dump_after, [&](const std::string& n) { return n == "all" || n == pass; });
  }

  void after(std::string_view pass, Graph& g, const Schedule& s) const override {
    const bool kernels = !s.kernels.empty();
    if (options.verify && kernels)
      for (const Kernel& k : s.kernels) verify(g, k.sink, Level::kernel);
    if (!wants(pass)) return;
    const Id roots[] = {s.program.sink};
    options.dump(pass, kernels ? write_schedule(g, s) : write_nodes(g, roots));
  }

  void after_lowering(const Graph& g, const Schedule& s, const std::vector<LoweredKernel>& lowered) const {
    std::string text;
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      if (options.verify) verify(g, lowered[i].sink, Level::program);
      const Id roots[] = {lowered[i].sink};
      if (wants(lowering)) text += "# " + s.kernels[i].name + "\n" + write_nodes(g, roots);
    }
    if (wants(lowering)) options.dump(lowering, text);
  }

  const CompileOptions& options;
};

void check_pass_names(const CompileOptions& options) {
  const auto known = pass_names();
  for (const std::string& n : options.dump_after)
    if (n != "all" && std::ranges::find(known, n) == known.end())
      throw Diagnostic("E-pass", "", "unknown pass '" + n + "'; --help lists the passes");
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const SchedulePass& p : schedule_passes()) names.push_back(p.name);
  names.push_back(lowering);
  return names;
}

Compiled compile(Graph& graph, const Program& program, const CompileOptions& options) {
  check_pass_names(options);
  const Watcher watcher(options);
  if (options.verify) verify(graph, program.sink, Level::tensor);
  Compiled out;
  out.schedule = make_schedule(graph, program, &watcher);
  for (const Kernel& k : out.schedule.kernels) out.kernels.push_back(lower_kernel(graph, out.schedule, k, options.target));
  watcher.after_lowering(graph, out.schedule, out.kernels);
  out.code = generate(graph, out.schedule, out.kernels, {options.target, options.symbol_prefix}, options.outputs);
  return out;
}

}  // namespace kiln::compiler
