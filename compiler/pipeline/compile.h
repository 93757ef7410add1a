// compile: runs all passes on a program, and generates code.
//
// Before: a verified program at tensor level, or a schedule that some pass left.
// After: its schedule, its lowered kernels and the requested outputs. The object computes the same as interpret(), bit for bit.
// Requires: the verifier accepts the input.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/pipeline/run_passes.h"

namespace kiln::compiler {

struct CompileOptions {
  Target target;
  std::string symbol_prefix;
  CodegenOutputs outputs;
  bool verify = true;
  Remarks* remarks = nullptr;         // collects what the passes decide, and why
  std::vector<std::string> disabled;  // optional passes that do not run
  // Called with the text of the schedule after each pass named in dump_after ("all": every pass).
  std::vector<std::string> dump_after;
  std::function<void(std::string_view pass, const std::string& text)> dump;
  std::function<void(std::string_view pass)> done;  // called after each pass and, as "codegen", after code generation
};

struct Compiled {
  Graph graph;
  Schedule schedule;  // in `graph`
  CodegenResult code;
};

// Runs the passes after `begin.after`; all passes if it is empty.
Compiled compile(const Graph& graph, Schedule begin, const CompileOptions& options);
Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options);

}  // namespace kiln::compiler
