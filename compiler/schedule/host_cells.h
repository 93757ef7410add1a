// Where the values that loops outside of kernels carry lie: each in a cell, which a turn reads and writes in place. A cell is a
// parameter of the program, or a tensor of its own.
//
// A loop goes on in the cell of its initial value where that value is not used any more once the loop runs; what a loop leaves
// lies in the output that is assigned from it, where nothing else needs that output before.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"
#include "compiler/schedule/host_times.h"

namespace kiln::compiler {

struct Cell {
  int param = -1;          // of the program; -1: a tensor of its own
  Id filled_from = no_id;  // the first loop's initial value, where that has to be copied
  Id filled_for = no_id;   // that loop
  std::vector<Id> values;  // that lie here, one after the other
};

class HostCells {
 public:
  HostCells(Graph& g, const Program& p, const HostTimes& times);

  const std::vector<Cell>& cells() const { return cells_; }
  std::size_t of(Id loop, std::size_t slot) const { return of_.at({loop, slot}); }
  // The cell of what a loop carries or leaves, or of a parameter at entry; cells().size() for other values.
  std::size_t of(Id value) const;
  // The piece of the loop's body in which the next value of a slot can take the place of the last one.
  std::uint32_t store_time(Id loop, std::size_t slot) const;

 private:
  void give(Id loop, std::size_t slot, Id init);
  bool may_take_over(Id loop, std::size_t slot, Id init) const;
  void settle_in_outputs();

  const Graph& g_;
  Shapes shapes_;
  const Program& p_;
  const HostTimes& times_;
  std::vector<Cell> cells_;
  std::map<std::pair<Id, std::size_t>, std::size_t> of_;
  std::map<Id, Id> loop_of_range_;
  std::map<std::pair<Id, std::size_t>, std::vector<Id>> nodes_;  // CARRY and GET
  std::map<int, Id> params_, stored_;                            // by slot: PARAM node, what is stored at the end
  std::map<int, std::size_t> of_param_;
};

}  // namespace kiln::compiler
