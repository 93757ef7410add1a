// The order in which the kernels to come of a program of ranges run: stages, kernels of the program, and the stores at its end,
// those with the same ranges together, but for states of kernels, which stand alone. One comes after another when it reads its
// result; and when it overwrites what the other reads.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// END of a store of a KERNEL's state.
bool hands_on_state(const Graph& g, Id end);

class UnitOrder {
 public:
  UnitOrder(const Graph& g, Id sink);

  // Makes everything that reads elements of the tensor, but for `except`, come before a unit; false, and nothing is changed,
  // where some of it needs the unit.
  bool read_before(Id tensor, Id except, Id unit);

 private:
  void add_unit(Id id);
  void find_reads(Id id);
  bool reaches_one_of(std::size_t from, const std::vector<std::size_t>& units) const;

  const Graph& g_;
  std::unordered_map<Id, std::size_t> unit_of_;
  std::vector<std::vector<std::size_t>> next_;       // by unit
  std::unordered_map<Id, std::vector<Id>> readers_;  // by tensor: STAGE, KERNEL, END
};

}  // namespace kiln::compiler
