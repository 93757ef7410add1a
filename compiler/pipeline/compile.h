// compile: runs all passes on a program for each of its targets, and generates code.
//
// Before: a verified program at tensor level, or a schedule after some pass.
// After: the variants of the program, one per target, and the requested outputs. The object has all variants. Each variant
//   gives the results of interpret(), bit for bit.
// Requires: the verifier accepts the input; targets of one triple, each once.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/pipeline/run_passes.h"

namespace kiln::compiler {

struct CompileOptions {
  std::vector<Target> targets = {target_named("x86-64-v3")};  // best first
  std::string symbol_prefix;
  CodegenOutputs outputs;
  bool verify = true;
  Remarks* remarks = nullptr;         // collects what the passes decide, and why
  std::vector<std::string> disabled;  // optional passes that do not run
  PlanMaker make_plan;                // in place of vectorize_plan
  // Called with the text of the schedule after each pass named in dump_after ("all": every pass). With several targets a step
  // of lowering is called "index_dtype for x86-64-v4".
  std::vector<std::string> dump_after;
  std::function<void(std::string_view pass, const std::string& text)> dump;
  std::function<void(std::string_view pass)> done;  // called after each pass and, as "codegen", after code generation
};

struct Variant {
  Target target;
  Graph graph;
  Schedule schedule;  // in `graph`
};

struct Compiled {
  std::vector<Variant> variants;  // one per target, in their order
  CodegenResult code;
};

// Runs the passes after `begin.after`; all passes if it is empty. Throws E-pass for kernels that are lowered already, if there
// are several targets.
Compiled compile(const Graph& graph, const Schedule& begin, const CompileOptions& options);
Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options);

}  // namespace kiln::compiler
