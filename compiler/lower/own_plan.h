// own_plan: how the ranges of a KERNEL that the program wrote become loops.
//
// before: its states over LOOP ranges. after: a plan. The last range that is long enough becomes lanes, with masks where
// control flow differs between them; shorter ones inside it stay loops. precondition: serial_atomics ran; kernels that need
// their order get no lanes, nor do those with large arrays of each iteration.
#pragma once

#include "compiler/lower/optimise.h"

namespace kiln::compiler {

std::vector<LoopPlan> own_plan(const Graph& g, std::span<const Id> states, std::span<const Id> ranges, const Target& target,
                               bool in_order);
// A LOCAL that is not worth lanes.
bool is_large_array(const Graph& g, Id local);

}  // namespace kiln::compiler
