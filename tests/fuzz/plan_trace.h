// Runs a schedule with loops around kernels without computing values, and finds temporaries that overwrite
// each other's bytes.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"

namespace kiln::compiler::testing {

struct KernelUses {
  std::set<std::size_t> reads, writes;  // buffers
};

// Text of the first read whose bytes were last written through another buffer, or never; "" if there is none. Every loop makes
// 0, 1, 2 or 3 iterations. Checks only the buffers for which `is_checked` holds.
std::string trace_problem(const Graph& g, const Schedule& s, const std::vector<KernelUses>& uses,
                          const std::function<bool(std::size_t)>& is_checked,
                          const std::function<bool(std::size_t, std::size_t)>& overlap);

}  // namespace kiln::compiler::testing
