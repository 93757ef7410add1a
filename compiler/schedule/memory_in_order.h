// memory_in_order: gives temporaries memory in linear time, for programs of thousands of kernels.
//
// Before: temporaries without an offset.
// After: as after memory_plan. Buffers take memory in the order in which kernels first use them: a block of the same size
//   whose last users have all ended, or a new block at the end of the arena.
// Requires: dependencies ran.
// Ensures: as memory_plan. The arena may be larger: blocks are never split or merged, and the order of two kernels is not
//   always known if more than 512 kernels are between them in the list.
// Why: memory_plan compares each buffer with every other buffer and with every kernel.
// Example: kernels x -> t0 -> t1 -> t2 -> y over N floats: t2 takes the block of t0, whose last user (the kernel that stores
//   t1) has ended.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void memory_in_order(Graph& g, Schedule& s);

}  // namespace kiln::compiler
