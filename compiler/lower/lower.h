// Lowering: one kernel of the schedule (K level) -> structured loops over scalars and vectors (P level), in this order:
//
//   drop_unit_ranges  ranges of extent 1 -> 0
//   gate_extraction   poisoned indices -> gates
//   merge_ranges      neighbouring LOOP ranges that are walked as one -> one range
//   decompose_math    transcendentals -> basic operations
//   decompose_half    f16 and bf16 arithmetic -> f32
//   estimate_work     cost of the kernel
//   reduce_lowering   REDUCE -> FOR with carried accumulators
//   optimise          which ranges become lanes or copies
//   loop_nest         LOOP ranges -> FORs around expanded bodies (expand)
//   interleaved_access  accesses at small strides become contiguous ones and shuffles
//   narrow_casts      positions as floats without 64-bit conversions
//   index_dtype       exact index values -> i32 and i64
//
// and, of a kernel that the program wrote, after gate_extraction and before loop_nest:
//
//   serial_atomics    atomic operations -> load, operation, store where their order matters
//   group_lanes       positions of a group between two barriers -> lanes
//   mask_loops        loops that end differently in each lane -> loops while any lane is active
#pragma once

#include <string_view>

#include "compiler/ir/program.h"
#include "compiler/lower/target.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Sees the kernel after each step above that changes it.
struct LowerObserver {
  virtual ~LowerObserver() = default;
  virtual void after(std::string_view step, const Graph& g, Id sink) const = 0;
};

// facts: of the symbols in the kernel, or of all.
LoweredKernel lower_kernel(Graph& g, const Schedule& schedule, const Kernel& kernel, const Facts& facts, const Target& target,
                           const LowerObserver* observer = nullptr);

}  // namespace kiln::compiler
