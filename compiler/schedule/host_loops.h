// host_loops: cuts a program with host loops (loops around kernels or whole tensors) into segments without loops.
//
// Before: a tensor-level program.
// After: segments in the order in which they run, and a table of loops. FORs are only inside of kernels, no extent of a kernel
//   depends on data, and no element of a tensor is read outside of kernels. A program without any of these is unchanged.
//   - A carried value is in a parameter or a `state`. A segment before the loop stores the initial value. A segment of the body
//     stores the value for the next iteration.
//   - A value of an earlier segment is in a state that the earlier segment stores. A cheap value is computed again instead.
//   - The counter of a loop is a symbol.
//   - An integer from data (a bound, an extent) is in a state that an earlier segment stores. A symbol takes its value.
// Requires: scalar_kernels ran.
// Why: the passes up to dependencies run on each segment as on a program of its own.
// Example: for t in 0 .. n[0]: u = f(u)   ->   segment 0: number = n[0]   for t in 0 .. number: segment 1: u = f(u)
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void host_loops(Graph& g, Schedule& s);

}  // namespace kiln::compiler
