// The graph-level half of the pipeline: from a tensor program to kernels in order, with their memory.
#pragma once

#include <span>
#include <string_view>

#include "compiler/ir/verify.h"
#include "compiler/schedule/pass_observer.h"

namespace kiln::compiler {

struct SchedulePass {
  std::string_view name;
  Form leaves;
  void (*run)(Graph& g, Schedule& s);
};

// In the order in which they run.
std::span<const SchedulePass> schedule_passes();

Schedule make_schedule(Graph& g, const Program& p, const PassObserver* observer = nullptr);

}  // namespace kiln::compiler
