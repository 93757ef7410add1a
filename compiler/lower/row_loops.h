// row_loops: in a kernel of the program, makes loops over rows run around the loops over columns. Arrays hold the values
// that the loops over rows carry.
//
// Before: states over a column j, the last range of a kernel. They come from FORs over rows i, whose LOADs and STOREs are
//   contiguous in j and far apart in i.
// After: effects in the order in which they run. Each effect is a loop over the columns of a block, or a FOR over rows
//   around such effects. A value that a FOR carries has an array with an element for each column of the block. So has a
//   value that is computed before the FOR and used in the FOR or after it.
// Requires: the work items are independent. The bounds of the FORs over rows are the same in all columns, and no condition ends
//   them.
// Why: memory is used in its order. Work items in lanes would use one or two vectors of each row.
// Example: for j: a = 0; for i: a = a + x[i, j]; y[i, j] = a  ->  for blocks of j: for j: acc[j] = 0; for i: for j:
//   acc[j] = acc[j] + x[i, j]; y[i, j] = acc[j] + x[i, j]
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// The plan [ranges before the last] [blocks of the last] [rows] [lanes of the last]. widest: bytes of the widest value.
// operations: of one iteration. [rows] has as `step` the fewest columns for which arrays pay, or 0 if the columns are a
// constant number. nullopt: the kernel has no such loops, or so few columns that registers hold a row.
std::optional<std::vector<LoopPlan>> row_loops_plan(const Graph& g, std::span<const Id> states, std::span<const Id> ranges,
                                                    int widest, int operations, const Target& target);

// Whether the columns are so few that one vector of all of them has a value in registers while loops run over the rows.
bool row_fits_registers(const Graph& g, Id extent, int operations, int widest, const Target& target);

class RowLoops {
 public:
  // Makes loops over the columns of the block, around these effects.
  using Columns = std::function<std::vector<Id>(std::span<const Id> effects)>;

  // states: of the kernel. column: the range of the columns. block: the RANGE of the loop over blocks, the first column of a
  // block; size: columns of a block.
  RowLoops(Graph& g, RangeIds& loops, std::span<const Id> states, Id column, Id block, int size, Columns columns);

  std::vector<Id> run() { return in_order(states_); }

 private:
  struct Before;
  std::vector<Id> in_order(std::vector<Id> roots);
  void run_loop(Id loop, std::vector<Id>& roots, std::vector<Id>& effects);
  Id rows(Id loop, const std::vector<Id>& arrays, std::unordered_map<Id, Id> known);
  void add_columns(std::span<const Id> roots, std::vector<Id>& effects) const;
  std::vector<Id> substituted(std::span<const Id> roots, const std::unordered_map<Id, Id>& known);
  Id fresh(Id range);
  Id index();
  Id array_of(Id value);
  Id stored(Id array, Id value);
  Id loaded(Id array);
  // Replaces the value in a later part of the kernel: a LOAD of its array or, for a state, the first state of the part.
  Id again(Id value, Id array);

  Graph& g_;
  RangeIds& loops_;
  const std::vector<Id> states_;
  const Id column_, block_;
  const int size_;
  Columns columns_;
  std::int64_t arrays_ = 0;             // made so far
  std::unordered_map<Id, Id> entries_;  // by memory
};

}  // namespace kiln::compiler
