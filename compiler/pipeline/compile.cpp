#include "compiler/pipeline/compile.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"

namespace kiln::compiler {

Compiled compile(const Graph& graph, Schedule begin, const CompileOptions& options) {
  for (const std::string& name : options.dump_after)
    if (name != "all") pass_named(name);
  const auto wants = [&](std::string_view pass) {
    return options.dump &&
           std::ranges::any_of(options.dump_after, [&](const std::string& n) { return n == "all" || n == pass; });
  };
  PassOptions passes{
      .target = options.target, .verify = options.verify, .remarks = options.remarks, .disabled = options.disabled};
  if (options.done || (options.dump && !options.dump_after.empty()))
    passes.done = [&](const Pass& pass, const Graph& g, const Schedule& s) {
      if (options.done) options.done(pass.name);
      if (wants(pass.name)) options.dump(pass.name, write_schedule(g, s));
    };
  Scheduled end = run_passes(graph, std::move(begin), passes);
  Compiled out{std::move(end.graph), std::move(end.schedule), {}};
  out.graph.set_remarks(nullptr);
  out.code = generate(out.graph, out.schedule, out.schedule.lowered, {options.target, options.symbol_prefix}, options.outputs);
  if (options.done) options.done("codegen");
  return out;
}

Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options) {
  Schedule begin;
  begin.program = program;
  return compile(graph, std::move(begin), options);
}

}  // namespace kiln::compiler
