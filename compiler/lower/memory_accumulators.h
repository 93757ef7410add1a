// memory_accumulators: reduces several rows at a time, with the accumulators of a block of columns in an array.
//
// Before: STOREs over a column j. Their values come from reductions over rows k: FORs without effects, whose loads are
//   contiguous in j.
// After: for each value that a FOR carries, an array of the block's accumulators, and three kinds of STOREs over j: initial
//   values; accumulators after some more rows; the STOREs of the kernel, with LOADs from the arrays in place of GETs. A FOR
//   whose values are the same for all columns stays: it runs once.
// Requires: no FOR is inside another; their bounds do not depend on j.
//   chain_blocks.h plans the same for an fma chain over k.
// Why: rows are read in the order of memory, and the operands of some terms stay in the first-level cache. With accumulators in
// registers the code would read few elements of each row. Example: y[j] = sum over k of x[k, j]  ->  for blocks of j: acc[j] =
// 0; for k by 8: for j: acc[j] = acc[j] + x[k, j] + ..
//   + x[k + 7, j]; for j: y[j] = acc[j].
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// The plan [ranges before the last] [blocks of the last] [rows] [lanes of the last]. widest: bytes of the widest value.
// can_mask: lanes may be inactive. nullopt: the reductions have another form, or accumulators in registers are as fast.
std::optional<std::vector<LoopPlan>> memory_accumulators(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                                         int widest, bool can_mask, const Target& target);

class MemoryAccumulators {
 public:
  // block: the RANGE of the loop over blocks. index: of an element of a block in the arrays; size: elements of a block.
  MemoryAccumulators(Graph& g, RangeIds& loops, std::span<const Id> stores, Id column, Id block, Id index, std::int64_t size);

  // The reductions that differ between columns. A reduction comes before other reductions that use its results.
  std::span<const Id> reductions() const { return reductions_; }

  std::vector<Id> initial(Id reduction);                    // STOREs of the values before the first row
  std::vector<Id> after_rows(Id reduction, Id row, int n);  // STOREs of the values after rows row .. row + n - 1
  // STOREs of the sums of a chain_nest after some more terms. One loop of the nest runs its iterations begin .. end - 1. outer:
  // the iterations of the loops around that loop.
  std::vector<Id> after_terms(std::span<const Id> nest, std::span<const Id> outer, Id begin, Id end);
  std::span<const Id> results() const { return results_; }  // the STOREs of the kernel

 private:
  std::vector<Id> arrays(Id reduction);
  std::vector<Id> loaded(Id reduction);
  std::vector<Id> stored(Id reduction, std::span<const Id> values);

  Graph& g_;
  RangeIds& loops_;
  const Id block_, index_;
  const std::int64_t size_;
  std::vector<Id> reductions_, results_;
};

}  // namespace kiln::compiler
