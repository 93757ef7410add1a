// Staging: which values get storage of their own. A small cost model, in scalar operations, that later work replaces. Costs are
// of the whole expression under a value as if nothing below it were stored, except below a broadcast of something costly, which
// will be.
#pragma once

#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {

struct ValueCost {
  double operations = 0;         // to compute one element
  bool contains_reduce = false;  // a reduction runs for each element
};

// How the program wants a value: summed over all the places that read it.
struct ValueUse {
  std::size_t maps = 0;     // different index maps
  double hoisted = 0;       // evaluations when loops that do not matter to the value are left outside
  double evaluations = 0;   // evaluations in all
  double elements = 0;      // different elements
};

class StagingModel {
 public:
  StagingModel(const Graph& g, const Program& p) : g_(g), program_(p) {}

  double extent(Id e);  // a typical value of an index expression over symbols and ranges
  double elements(const std::vector<Id>& extents);
  // Costs of the given nodes (ascending, sources first), in that order of arrival.
  void add(Id node, Shapes& shapes);
  ValueCost cost(Id node) const { return node < costs_.size() ? costs_[node] : ValueCost{}; }

  // True: give the value a buffer. False: recompute it wherever it is read.
  static bool needs_storage(const ValueCost& cost, const ValueUse& use);

 private:
  const Graph& g_;
  const Program& program_;
  std::vector<ValueCost> costs_;
  std::vector<double> extents_;
};

}  // namespace kiln::compiler
