// turn_cost: estimates the time of one turn of a loop, without the loops inside it and without waiting for memory.
//
// Before: the loops of a kernel at P level (loop_scopes.h).
// After: a number of cycles, from the instructions that the loop's own nodes become: how long they occupy the ports of the
//   machine, how long a turn waits for the turn before, and how many values do not fit the registers.
// Example: s += x[i] with one vector of accumulators  ->  the latency of an addition; with 8 vectors: 4 additions' time on two
//   ports
#pragma once

#include <vector>

#include "compiler/ir/loop_scopes.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

struct TurnCost {
  double turn = 0;  // cycles
  double path = 0;  // cycles of the longest chain of operations in a turn
};

// By loop.
std::vector<TurnCost> turn_costs(const Graph& g, const Scopes& scopes, const Target& target);

}  // namespace kiln::compiler
