// UnitOrder: the order of the future kernels (units) of a program of ranges, for storage.h.
//
// A unit is a STAGE, a KERNEL, or a group of ENDs with the same ranges. An END that stores a KERNEL's result is a unit of its
// own. A unit comes after the units whose results it reads, and after the units that read_before() puts before it.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether an END stores the elements of a KERNEL's result, unchanged.
bool hands_on_state(const Graph& g, Id end);

class UnitOrder {
 public:
  UnitOrder(const Graph& g, Id sink);

  // Orders all readers of the tensor, except `except`, before the unit. False, without a change: a reader needs the unit's
  // result.
  bool read_before(Id tensor, Id except, Id unit);

 private:
  void add_unit(Id id);
  void find_reads(Id id);
  bool reaches_one_of(std::size_t from, const std::vector<std::size_t>& units) const;

  const Graph& g_;
  std::unordered_map<Id, std::size_t> unit_of_;
  std::vector<std::vector<std::size_t>> next_;       // by unit: the units after it
  std::unordered_map<Id, std::vector<Id>> readers_;  // by tensor: STAGEs, KERNELs and ENDs
};

}  // namespace kiln::compiler
