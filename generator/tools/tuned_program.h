// tuned_program: a program whose kernels kiln-tune plans again and again.
//
// Before: a verified program as text.
// After: its kernels in one variant, by key (tuning.h), with plans from a tuning or the compiler's; other legal plans of a
//   kernel; the predicted time, and the object.
// Why: the passes in front of lowering do not see plans, so they run once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/tuning.h"
#include "compiler/pipeline/run_passes.h"

namespace kiln::generator {

class TunedProgram {
 public:
  TunedProgram(const std::string& file, const compiler::Target& target);

  const std::string& name() const { return planned_.schedule.program.name; }
  const std::vector<compiler::Symbol>& symbols() const { return planned_.schedule.program.symbols; }
  const compiler::Target& target() const { return target_; }
  // Each kernel that has a choice of plans once, with its plan as text.
  std::vector<std::pair<std::uint64_t, std::string>> plans(const compiler::Tuning& tuning) const;
  // Plans one change away from the plan that the kernel has (plan_neighbours.h).
  std::vector<std::string> neighbours(const compiler::Tuning& tuning, std::uint64_t kernel) const;
  double predicted(const compiler::Tuning& tuning) const;  // nanoseconds
  std::string object(const compiler::Tuning& tuning) const;

 private:
  compiler::PassOptions with(const compiler::PlanMaker& plans) const;

  compiler::Target target_;
  compiler::Scheduled planned_;
};

}  // namespace kiln::generator
