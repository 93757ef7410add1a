// The compiler from end to end: a program at tensor level becomes kernels, loops, and an object. The list of passes is
// pipeline.cpp.
//
// before: a verified tensor-level Program, or what some pass left of it. after: its schedule, its lowered kernels and the
// requested outputs. precondition: none beyond the verifier's level. postcondition: the object computes what interpret()
// computes, bit for bit. Between two passes the graph holds what the schedule needs and nothing else (compact), so that
// compiling goes on from the text of any of them to the same bytes.
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
  std::function<void(std::string_view pass)> done;  // called after each pass, and after "codegen"
  std::string last;                                 // stop after this pass: no code; empty: none
};

struct Compiled {
  Graph graph;
  Schedule schedule;  // in `graph`
  CodegenResult code;
};

// Runs the passes after `begin.after`: all of them for a schedule that is a program alone.
Compiled compile(const Graph& graph, Schedule begin, const CompileOptions& options);
Compiled compile(const Graph& graph, const Program& program, const CompileOptions& options);

// What a schedule holds after a pass; tensors after none.
Form form_after(std::string_view pass);

// Names of all passes, in order.
std::vector<std::string_view> pass_names();

}  // namespace kiln::compiler
