// Schedules with loops around kernels: runs them without numbers, and looks whether temporaries that share bytes spoil each
// other.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

struct KernelUses {
  std::set<std::size_t> reads, writes;  // buffers
};

// What is read, while its bytes were last written as another buffer's or not at all, when every loop makes 0, 1, 2 or 3 turns;
// empty when nothing is. Only buffers for which `is_checked` holds.
std::string trace_problem(const Graph& g, const Schedule& s, const std::vector<KernelUses>& uses,
                          const std::function<bool(std::size_t)>& is_checked,
                          const std::function<bool(std::size_t, std::size_t)>& overlap);

}  // namespace kiln::compiler::testing
