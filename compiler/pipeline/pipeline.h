// compile: runs all passes on a program, from tensor level to the object. The passes are listed in
// compiler/schedule/make_schedule.cpp; the last one is `lower`.
//
// Before: a verified program at tensor level, or a schedule that some pass left.
// After: its schedule, its lowered kernels and the requested outputs. The object computes the same as interpret(), bit for bit.
//   Between two passes the graph contains only the nodes that the schedule needs (compact.h), so compiling the text after any
//   pass gives the same bytes.
// Requires: the verifier accepts the input.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/program.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/target.h"

namespace kiln::compiler {

struct CompileOptions {
  Target target;
  std::string symbol_prefix;
  CodegenOutputs outputs;
  bool verify = true;
  // Called with the text of the schedule after each pass named in dump_after ("all": every pass).
  std::vector<std::string> dump_after;
  std::function<void(std::string_view pass, const std::string& text)> dump;
  std::function<void(std::string_view pass)> done;  // called after each pass and, as "codegen", after code generation
  std::string last;                                 // the last pass to run, without code generation; empty: run everything
};

struct Compiled {
  Graph graph;
  Schedule schedule;  // in `graph`
  CodegenResult code;
};

// Runs the passes after `begin.after`; all passes if it is empty.
Compiled compile(const Graph& graph, Schedule begin, const CompileOptions& options);
Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options);

// The form of a schedule after a pass; `tensors` for an empty name.
Form form_after(std::string_view pass);

// Names of all passes, in order.
std::vector<std::string_view> pass_names();

}  // namespace kiln::compiler
