// Storage: assigns a buffer to each STAGE and to each state of a KERNEL, for kernel_split.
//
// Three kinds of copies are avoided:
// - A tensor that is copied whole to an output is computed in that output.
// - A STAGE that copies a tensor shares the tensor's buffer. Other readers of the tensor must be able to run before the KERNEL
//   that updates the buffer.
// - A KERNEL updates an inout parameter in place if its state begins as a copy of the parameter and its result is stored there.
//   Other readers of the parameter must be able to run before the KERNEL.
#pragma once

#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/schedule/kernel_order.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// The ends of the RANGEs of a STAGE or END.
std::vector<Id> range_ends(const Graph& g, Id node);
// The extents of a tensor or, inside a KERNEL, of a state of a tensor.
std::vector<Id> extents_of(const Graph& g, Id tensor);
// The tensor or state before the last change of `tensor`, with the same extents; `tensor` itself if there is none.
Id changed_from(const Graph& g, Id tensor);

class Storage {
 public:
  Storage(Graph& g, Schedule& s, Simplifier& simplify);  // adds buffers

  const std::vector<Id>& producers() const { return producers_; }  // STAGEs and KERNELs, ascending
  const std::vector<Id>& ends() const { return ends_; }            // the sink's ENDs, but for outputs computed in place
  const std::unordered_map<Id, int>& buffers() const { return buffer_of_; }
  std::span<const int> states_of(Id kernel) const { return states_.at(kernel); }  // buffers by state
  // Whether a kernel has to store the STAGE's value.
  bool is_filled(Id stage) const { return !taken_.contains(stage) && !unfilled_.contains(stage); }

 private:
  struct State {
    Id kernel = no_id;
    std::size_t slot = 0;
    bool operator<(const State& o) const { return std::pair(kernel, slot) < std::pair(o.kernel, o.slot); }
  };

  void find_producers();
  Id home_of(Id tensor) const;
  bool is_whole(Id read, std::span<const Id> ranges) const;
  bool writes_all(const State& s) const;
  void take_over(Id stage);
  void leave_unfilled(Id kernel);
  bool lives_in_parameter(Id end);
  bool updates(Id tensor, Id param);
  void give_buffers();
  int new_buffer(Id tensor, int after);

  Graph& g_;
  Schedule& s_;
  Simplifier& simplify_;
  KernelOrder order_;
  std::vector<Id> producers_, tensors_, ends_;       // tensors: producers, and GETs of KERNELs
  std::unordered_map<Id, int> readers_;              // by tensor: number of uses of its elements
  std::unordered_map<Id, std::vector<Id>> reads_;    // by tensor or state: INDEX nodes
  std::unordered_map<Id, State> state_of_;           // STAGE -> the KERNEL state whose initial value it is
  std::unordered_map<Id, Id> taken_;                 // STAGE -> the tensor whose buffer it shares
  std::unordered_set<Id> unfilled_, overwritten_;    // STAGEs without initial contents; tensors whose buffer is reused
  std::set<State> in_iteration_;                     // states whose buffer is `after` another one
  std::unordered_map<Id, int> in_parameter_;         // STAGE -> the parameter that its state updates in place
  std::unordered_map<Id, int> buffer_of_;            // by tensor or PARAM
  std::unordered_map<Id, std::vector<int>> states_;  // by KERNEL: the buffers of its states
};

}  // namespace kiln::compiler
