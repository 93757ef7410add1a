// Staging: which values get storage of their own. A small cost model, in scalar operations, that later work replaces. Costs are
// of the whole expression under a value as if nothing below it were stored, except what surely will be: something costly below
// a broadcast, and a reduction's result that another reduction and somebody else read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {

struct ValueCost {
  double operations = 0;         // to compute one element
  bool contains_reduce = false;  // a reduction runs for each element
  bool contains_loop = false;    // one that is not written out
  double code = 0;               // operations written out once, of a scalar value
};

// How the program wants a value: summed over all the places that read it.
struct ValueUse {
  std::size_t maps = 0;              // different index maps
  double hoisted = 0;                // evaluations when loops that do not matter to the value are left outside
  double elements = 0;               // different elements
  double bytes = 4;                  // of one element
  std::size_t index_operations = 0;  // that say where a reader's element is: the longest such expression
};

class StagingModel {
 public:
  StagingModel(const Graph& g, const Program& p) : g_(g), program_(p) {}

  static double own_cost(Op op);  // of one operation
  double extent(Id e);            // a typical value of an index expression over symbols and ranges
  double elements(const std::vector<Id>& extents);
  // How often a value over the ranges `used` is computed inside `loops`, outermost first. The iterations of short loops share
  // what does not depend on them (short_loops.h), unless it has loops of its own: those go best over lanes of their own.
  double evaluations(const ValueCost& value, std::span<const Id> loops, std::span<const Id> used);
  // First every node as a reader of its sources, then the costs, sources first.
  void count_reader(Id node);
  void add(Id node, Shapes& shapes);
  // Of a scalar value over ranges: each node once for each iteration of the reductions around it.
  ValueCost cost_of_scalar(Id value);
  ValueCost cost(Id node) const { return node < costs_.size() ? costs_[node] : ValueCost{}; }

  // True: give the value a buffer. False: recompute it wherever it is read.
  static bool needs_storage(const ValueCost& cost, const ValueUse& use);

 private:
  bool surely_stored(Id source, Id reader, Shapes& shapes) const;

  const Graph& g_;
  const Program& program_;
  std::vector<ValueCost> costs_;
  std::vector<std::uint8_t> readers_;  // how many, up to 2
  std::vector<bool> read_by_reduce_;
  std::vector<double> extents_;
};

}  // namespace kiln::compiler
