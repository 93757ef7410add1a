#include "compiler/pipeline/compile.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"

namespace kiln::compiler {
namespace {

class Compiler {
 public:
  explicit Compiler(const CompileOptions& options) : options_(options) {
    for (const std::string& name : options.dump_after)
      if (name != "all") pass_named(name);
  }

  Compiled run(const Graph& graph, const Schedule& begin) {
    check(begin);
    // The passes that do not see the target run once.
    Scheduled planned;
    const bool is_planned = form_after(begin.after) >= Form::planned;
    if (!is_planned) planned = before_lowering(graph, begin);
    Compiled out;
    const bool several = options_.targets.size() > 1;
    for (const Target& target : options_.targets) {
      if (several && options_.remarks != nullptr) options_.remarks->set_variant(target.name);
      PassOptions passes = pass_options(several ? " for " + target.name : "");
      passes.target = target;
      Scheduled end = run_passes(is_planned ? graph : planned.graph, is_planned ? begin : planned.schedule, passes);
      out.variants.push_back({target, std::move(end.graph), std::move(end.schedule)});
      out.variants.back().graph.set_remarks(nullptr);
    }
    std::vector<CodegenVariant> variants;
    for (const Variant& v : out.variants) variants.push_back({v.target, v.graph, v.schedule, v.schedule.lowered});
    out.code = generate(variants, options_.symbol_prefix, options_.outputs);
    if (options_.done) options_.done("codegen");
    return out;
  }

 private:
  void check(const Schedule& begin) const {
    if (options_.targets.size() > 1 && form_after(begin.after) == Form::lowered)
      throw Diagnostic(
          "E-pass", "",
          "expected one variant for a text from after " + begin.after + ", got " + std::to_string(options_.targets.size()));
  }

  Scheduled before_lowering(const Graph& graph, const Schedule& begin) const {
    PassOptions passes = pass_options("");
    passes.last = last_pass(Form::planned);
    return run_passes(graph, begin, passes);
  }

  PassOptions pass_options(const std::string& suffix) const {
    PassOptions out{
        .verify = options_.verify, .remarks = options_.remarks, .disabled = options_.disabled, .make_plan = options_.make_plan};
    if (options_.done || (options_.dump && !options_.dump_after.empty()))
      out.done = [this, suffix](const Pass& pass, const Graph& g, const Schedule& s) {
        if (options_.done) options_.done(pass.name);
        if (wants_dump(pass.name)) options_.dump(std::string(pass.name) + suffix, write_schedule(g, s));
      };
    return out;
  }

  bool wants_dump(std::string_view pass) const {
    return options_.dump &&
           std::ranges::any_of(options_.dump_after, [&](const std::string& n) { return n == "all" || n == pass; });
  }

  const CompileOptions& options_;
};

}  // namespace

Compiled compile(const Graph& graph, const Schedule& begin, const CompileOptions& options) {
  return Compiler(options).run(graph, begin);
}

Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options) {
  Schedule begin;
  begin.program = program;
  return compile(graph, begin, options);
}

}  // namespace kiln::compiler
