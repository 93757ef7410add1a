// CarriedBuffers: assigns a buffer to each value that a host loop carries.
//
// Each iteration reads the buffer and updates it in place. The buffer is a parameter or a new internal tensor.
// A loop reuses the buffer of its initial value when that value is dead once the loop has begun.
// A loop's result is computed in the output that is assigned from it, unless the program reads that output's old value.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shapes.h"
#include "compiler/schedule/host_times.h"

namespace kiln::compiler {

struct CarriedBuffer {
  int param = -1;          // parameter slot; -1: a new tensor
  Id filled_from = no_id;  // initial value to copy into the buffer; no_id: none
  Id filled_for = no_id;   // the loop before which it is copied
  std::vector<Id> values;  // PARAM, CARRY and GET nodes that share the buffer, one after the other
};

class CarriedBuffers {
 public:
  CarriedBuffers(Graph& g, const Program& p, const HostTimes& times);

  const std::vector<CarriedBuffer>& buffers() const { return buffers_; }
  std::size_t of(Id loop, std::size_t slot) const { return of_.at({loop, slot}); }
  // The buffer of a CARRY or GET of a host loop, or of a PARAM; buffers().size(): the value has no buffer.
  std::size_t of(Id value) const;
  // The segment of the loop's body that stores the slot's next value: the first one in which that value is available and after
  // which no segment reads the current value.
  std::uint32_t store_time(Id loop, std::size_t slot) const;

 private:
  void give(Id loop, std::size_t slot, Id init);
  bool may_take_over(Id loop, std::size_t slot, Id init) const;
  void settle_in_outputs();

  const Graph& g_;
  Shapes shapes_;
  const Program& p_;
  const HostTimes& times_;
  std::vector<CarriedBuffer> buffers_;
  std::map<std::pair<Id, std::size_t>, std::size_t> of_;  // by loop and slot: the buffer
  std::map<Id, Id> loop_of_range_;
  std::map<std::pair<Id, std::size_t>, std::vector<Id>> nodes_;  // by loop and slot: CARRY and GET nodes
  std::map<int, Id> params_, stored_;                            // by parameter slot: PARAM node, value stored at the end
  std::map<int, std::size_t> of_param_;                          // by parameter slot: the buffer
};

}  // namespace kiln::compiler
