// The compiler from end to end: a program at tensor level becomes kernels, loops, and an object. The list of passes is
// pipeline.cpp.
//
// before: a verified tensor-level Program. after: its schedule, its lowered kernels and the requested outputs.
// precondition: none beyond the verifier's tensor level. postcondition: the object computes what interpret() computes, bit for
// bit.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lowered_kernel.h"
#include "compiler/lower/target.h"

namespace kiln::compiler {

struct CompileOptions {
  Target target;
  std::string symbol_prefix;
  CodegenOutputs outputs;
  bool verify = true;
  // Called with the text of the program after each pass named in dump_after ("all": every pass).
  std::vector<std::string> dump_after;
  std::function<void(std::string_view pass, const std::string& text)> dump;
};

struct Compiled {
  Schedule schedule;
  std::vector<LoweredKernel> kernels;  // kernels[i] belongs to schedule.kernels[i]
  CodegenResult code;
};

Compiled compile(Graph& graph, const Program& program, const CompileOptions& options);

// Names of all passes, in order.
std::vector<std::string_view> pass_names();

}  // namespace kiln::compiler
