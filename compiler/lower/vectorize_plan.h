// vectorize_plan: plans how the LOOP ranges of a kernel become loops.
//
// Before: STOREs over LOOP ranges; reductions are FORs without effects.
// After: the nodes do not change. The result is a plan, by these rules:
//   - The innermost range becomes lanes if every store is contiguous in it, and neither bounds nor vectors of inner loops
//     depend on it.
//   - If the body has no loops, but long chains of operations, as in polynomials, several vectors run side by side.
//   - If the innermost ranges are short (the channels of a pixel, a small matrix) and lanes of them cost more (lane_cost.h),
//     they are written out, and the range around them becomes lanes with a stride.
//   - With an fma reduction, an outer range is unrolled if some load does not depend on it (register_block.h). One load then
//     serves several accumulators. The same plan is made for other reductions if no vector load depends on the outer range.
//   - With other reductions over rows, the accumulators of a block of columns are in an array (memory_accumulators.h).
//   - If neighbouring iterations of an outer range load the same vectors, a few of them run side by side (window_rows.h).
//   - If reductions have lanes along the rows, a few rows may be read side by side (rows_side_by_side.h).
//   - If the arrays of a kernel without loops do not fit the caches, its stores go past them (past_caches.h).
//   - If some load is contiguous in an outer range, but not in the lanes' range, both ranges become a tile (transpose_tile.h).
// Requires: reduce_lowering ran.
// Why: no plan changes a result, because iterations are independent and each iteration keeps the order of its operations.
// Example: y[i] = x[i] + x[i] over i < N in f32, with registers of 8 lanes  ->  i: lanes, step 16 (two registers), and a tail
//   of step 1
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// A loop for the rest of the range, which has fewer iterations than the main loop's step.
struct Tail {
  int step = 1;
  bool masked = false;  // only with lanes: lanes after the end are inactive, so that no iteration remains
};

// The tails of a loop whose accumulators fill the registers. With mask registers: one masked vector of `lanes`. Without them a
// mask takes a vector register, so the tails have vectors of one register: whole ones, then a masked one.
std::vector<Tail> masked_tails(int lanes, int one_register, const Target& target);

struct LoopPlan {
  Id range = no_id;
  int step = 1;                    // iterations of the range in one iteration of the main loop
  bool lanes = false;              // true: these iterations are lanes; false: copies of the code
  int vectors = 1;                 // lanes: so many vectors side by side in the main loop, each of `step / vectors` lanes
  int align = 0;                   // lanes: if not 0, a masked vector comes first, so that later stores have this alignment
  bool block = false;              // the loop cuts the range into blocks of `step`; a later loop of the plan is over one block
  bool rows = false;               // no range: `step` rows of reductions at a time (memory_accumulators.h). Explicit kernel:
                                   // loops over rows, if there are at least `step` columns (row_loops.h)
  bool chain = false;              // no range: `step` terms of a chain at a time for a block of rows (memory_accumulators.h)
  Id transposes = no_id;           // copies: the lanes' range; loads contiguous in `range` are transposed to its lanes
  bool shares_loads = false;       // copies: equal loads of neighbouring iterations become one (window_rows.h)
  Id streams = no_id;              // copies: a load; the main loop runs only if the rows of the load do not fit the caches.
  bool masked_all = false;         // every vector is masked, so that a large body is emitted once
  std::int64_t past_caches = 0;    // lanes with `align`: if not 0, the stores of a kernel with at least so many iterations go
                                   // past the caches (past_caches.h)
  std::vector<Tail> tails = {{}};  // in this order; after the last one no iteration remains
};

// ranges: outermost first. The plan has a loop for each range, in the same order. Exceptions: register_block.h,
// transpose_tile.h and memory_accumulators.h. Their plans have more loops, in another order.
std::vector<LoopPlan> vectorize_plan(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                     const Target& target);

// Makes a plan that obeys check_plan.h.
using PlanMaker = std::function<std::vector<LoopPlan>(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                                      const Target& target)>;

// The ranges in the order for vectorize_plan(): short ranges move inside a long range if their iterations share enough work, or
// as lanes enough vectors of interleaved elements.
std::vector<Id> order_of_ranges(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target);

}  // namespace kiln::compiler
