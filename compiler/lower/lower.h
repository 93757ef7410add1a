// Lowering: translates one kernel of the schedule (K level) into structured loops over scalars and vectors (P level), in these
// steps:
//
//   drop_unit_ranges  replaces ranges of extent 1 by 0
//   gate_extraction   moves conditions from indices to gates of the accesses
//   merge_ranges      merges neighbouring ranges that every access treats as one
//   decompose_math    expands transcendental operations into basic operations
//   decompose_half    computes f16 and bf16 arithmetic in f32
//   estimate_work     estimates the cost of the kernel
//   reduce_lowering   replaces REDUCE by loops with carried accumulators
//   optimise          chooses which ranges become lanes or copies
//   loop_nest         replaces ranges by FORs around the expanded bodies
//   interleaved_access  replaces accesses with small strides by contiguous accesses and shuffles
//   narrow_casts      casts 64-bit positions to floats without 64-bit conversions
//   index_dtype       gives exact index values the types i32 and i64
//
// A kernel that the program wrote (Kernel::is_own) keeps its loops. It skips merge_ranges, reduce_lowering, optimise and
// narrow_casts, and has three more steps between gate_extraction and loop_nest:
//
//   serial_atomics    replaces atomic operations whose order matters by load, operation, store
//   group_lanes       vectorises loops over the positions of a group between two barriers
//   mask_loops        lets loops that lanes leave at different iterations run while any lane is active
#pragma once

#include <string_view>

#include "compiler/ir/program.h"
#include "compiler/lower/target.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Is called with the kernel after each step that changes it.
struct LowerObserver {
  virtual ~LowerObserver() = default;
  virtual void after(std::string_view step, const Graph& g, Id sink) const = 0;
};

// facts: bounds of the symbols that the kernel uses; other symbols are permitted.
LoweredKernel lower_kernel(Graph& g, const Schedule& schedule, const Kernel& kernel, const Facts& facts, const Target& target,
                           const LowerObserver* observer = nullptr);

}  // namespace kiln::compiler
