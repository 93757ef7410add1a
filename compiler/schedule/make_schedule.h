// The table of graph-level passes, and a driver that runs them: a tensor program becomes ordered kernels with their memory.
#pragma once

#include <span>
#include <string_view>

#include "compiler/ir/verify.h"
#include "compiler/schedule/pass_observer.h"

namespace kiln::compiler {

struct SchedulePass {
  std::string_view name;
  Form leaves;  // the schedule's form after the pass
  void (*run)(Graph& g, Schedule& s);
};

// All passes but `lower`, in the order in which they run.
std::span<const SchedulePass> schedule_passes();

// Runs all passes. observer: called after each of them.
Schedule make_schedule(Graph& g, const Program& p, const PassObserver* observer = nullptr);

}  // namespace kiln::compiler
