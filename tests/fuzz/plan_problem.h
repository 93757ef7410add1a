// Checks the task graph and the memory plan of a compiled program. Shares no code with the passes that made them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "compiler/ir/schedule.h"
#include "kiln/program.h"

namespace kiln::compiler::testing {

// Whether kernels that access the same buffer are in an order that keeps the program's meaning: "", else text of
// the first two that are not. symbols: the values of extents. A version of a product that does not run for them accesses
// nothing.
std::string order_problem(const Graph& g, const Schedule& s, const std::map<std::string, std::int64_t>& symbols);

// Checks that the object's description agrees with the schedule; that temporaries begin at multiples of 64, are inside the
// workspace, and share bytes only if all users of one end before any user of the other begins; and, with host loops, that every
// kernel reads the right values for any number of iterations. Returns "" or the problem.
std::string plan_problem(const Graph& g, const Schedule& s, const kiln_program_desc& d, std::span<const std::int64_t> symbols);

}  // namespace kiln::compiler::testing
