// range_assignment: replaces the axes of tensors by RANGEs and index arithmetic.
//
// Before: SINK(STORE(PARAM, value)...) over tensor operations.
// After: SINK(END(STORE(PARAM, value), LOOP RANGEs...)...) over scalar operations, REDUCE{x.., RANGEs..}, INDEX(PARAM or STAGE,
//   index per axis) and STAGE(value, RANGEs...), one for each value that gets a buffer. A load that must not happen everywhere
//   has WHERE(gate, i, INVALID) as its first index. RANGE ids are unique. Stores with the same RANGEs belong to one kernel.
//   A SCAN is a KERNEL with a loop along its axis (scan_kernels.h).
// Requires: graph_cleanup has run.
// Example: y = transpose(x) * 2  ->  END(STORE(y, INDEX(x, j, i) * 2), i < M, j < N)
// Algorithm: DemandWalk (demand.h) finds the index maps of all values, from the stores on. A movement operation only changes
//   the map and disappears: PAD becomes WHERE(inside, x, value), CONCAT nested WHEREs, IOTA a cast of its index. staging.h
//   chooses the values that become STAGEs. docs/explanation/rangeify.md has an example.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void range_assignment(Graph& g, Program& p);

}  // namespace kiln::compiler
