// optimise: how the LOOP ranges of a kernel become loops.
//
// before: STOREs over LOOP ranges, reductions as pure FORs. after: the same nodes and a plan. The innermost range becomes lanes
// when every store is contiguous in it and no inner loop uses lanes of its own; when it and its neighbours are short (the
// channels of a pixel, a small matrix) and lanes of it cost more (lane_cost.h), these are written out and the next one becomes
// lanes with a stride. Beside an fma reduction, an outer range that leaves some vector load unchanged is unrolled, so that one
// load serves several accumulators. A plan never changes a result: iterations are independent and each keeps its order.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/target.h"

namespace kiln::compiler {

struct LoopPlan {
  Id range = no_id;
  int step = 1;              // iterations per turn of the main loop
  bool lanes = false;        // they are lanes; otherwise copies
  bool masked_tail = false;  // what is left is one more turn under a mask; otherwise one iteration at a time
  bool masked_all = false;   // every turn is under a mask: the body is too large to be there twice
};

// ranges: outermost first.
std::vector<LoopPlan> optimise(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target);

// Short ranges around a long one go inside it where their iterations share enough work.
std::vector<Id> order_of_ranges(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target);

}  // namespace kiln::compiler
