// run_passes: the one driver of the passes. The generator, kiln-opt, proofs and tests use it.
//
// Before: a verified program at tensor level, or a schedule after some pass.
// After: the schedule after the last pass of the table, or after PassOptions::last. Between two passes the graph contains only
//   the nodes that the schedule needs (compact.h). So a run that starts from the text after any pass, except between two steps
//   of lowering, gives the same bytes as one run of all passes. Equal kernels are lowered once.
// Requires: the verifier accepts the input.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/schedule.h"
#include "compiler/lower/vectorize_plan.h"
#include "compiler/pipeline/passes.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

struct PassOptions {
  Target target = {};
  bool verify = true;
  Remarks* remarks = nullptr;              // collects what the passes decide, and why
  std::vector<std::string> disabled = {};  // optional passes that do not run
  std::string last = {};                   // the last pass to run; empty: all passes
  PlanMaker make_plan = {};                // in place of vectorize_plan
  // Called after each pass. After a step of lowering the schedule has the sinks that this step made.
  std::function<void(const Pass& pass, const Graph& g, const Schedule& s)> done = {};
};

struct Scheduled {
  Graph graph;
  Schedule schedule;  // in `graph`
};

// Runs the passes after `begin.after`; all passes if it is empty. Throws E-pass if `begin` is between two steps of lowering, or
// if a disabled pass does not exist or is required; E-race and other errors of the program.
Scheduled run_passes(const Graph& graph, Schedule begin, const PassOptions& options = {});
Scheduled run_passes(const Graph& graph, const Program& program, const PassOptions& options = {});

// Runs the steps of lowering on one kernel. facts: bounds of its symbols.
LoweredKernel lower_kernel(Graph& g, const Schedule& s, const Kernel& k, const Facts& facts, const Target& target);

}  // namespace kiln::compiler
