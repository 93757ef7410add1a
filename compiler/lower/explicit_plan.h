// explicit_plan: plans how the ranges of a kernel that the program wrote become loops.
//
// Before: the states that the kernel's ENDs name, over LOOP ranges.
// After: the nodes do not change. In the plan the last range that may have shortest_lanes iterations or more (lane_limits.h)
//   becomes lanes, with masks where control flow differs between lanes. Shorter ranges inside it stay loops. If the lanes
//   are columns and loops walk through rows, these loops run around the loop over columns (row_loops.h). No range becomes
//   lanes if each iteration has a large array whose places depend on data, if loops do little but access elements that are far
//   apart for neighbouring lanes (a copy of each row) or elements of rows that data delimit, or if in_order is set.
//   If each iteration of such a loop waits for the one before (a recursive filter along each row), up to 8 rows are lanes: the
//   accesses to their elements fit into that time. The rows behind the last whole vector have fewer lanes, then none.
//   Bodies of loops have vectors of two or four registers if their values fit, so that other vectors use the time in which one
//   waits. If the lanes have arrays in memory, these must fit half of the first-level cache, and all accesses must be to one
//   element or to neighbours.
//   Exception: in order, the last range becomes lanes if its iterations store to different elements (rows that are added to
//   rows of a table).
// Requires: serial_atomics ran.
// Example: f32 stores over i < N, j < 3, with registers of 8 lanes  ->  i: 8 lanes, then one masked vector; j: a loop
#pragma once

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

std::vector<LoopPlan> explicit_plan(const Graph& g, std::span<const Id> states, std::span<const Id> ranges,
                                    const Target& target, bool in_order);
// Whether the LOCAL has so many elements that a copy for each lane costs more than lanes gain.
bool is_large_array(const Graph& g, Id local);

}  // namespace kiln::compiler
