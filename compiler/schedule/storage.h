// Where the tensors of a program of ranges lie once it is kernels: each STAGE and each state of a KERNEL in a buffer. A KERNEL
// updates in place what nobody needs as it was: a copy of a tensor lies where the tensor does, and one of a parameter that
// takes the result at the end in the parameter, when everything else that reads them can come before the KERNEL.
#pragma once

#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/unit_order.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// Of STAGE and END: of the RANGEs after the first source.
std::vector<Id> range_ends(const Graph& g, Id node);
// Extents of a tensor or, inside a KERNEL, of a state of one.
std::vector<Id> extents_of(const Graph& g, Id tensor);
// What a tensor was before its last change, with the same extents; itself at the beginning.
Id changed_from(const Graph& g, Id tensor);

class Storage {
 public:
  Storage(Graph& g, Schedule& s, Simplifier& simplify);  // adds buffers

  const std::vector<Id>& units() const { return units_; }  // STAGEs and KERNELs, ascending
  const std::vector<Id>& ends() const { return ends_; }    // those of the sink that store something
  const std::unordered_map<Id, int>& buffers() const { return buffer_of_; }
  std::span<const int> states_of(Id kernel) const { return states_.at(kernel); }  // buffers
  bool is_filled(Id stage) const { return !taken_.contains(stage) && !unfilled_.contains(stage); }

 private:
  struct State {
    Id kernel = no_id;
    std::size_t slot = 0;
    bool operator<(const State& o) const { return std::pair(kernel, slot) < std::pair(o.kernel, o.slot); }
  };

  void find_units();
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
  UnitOrder order_;
  std::vector<Id> units_, tensors_, ends_;  // tensors: units and GETs of KERNELs
  std::unordered_map<Id, int> readers_;
  std::unordered_map<Id, std::vector<Id>> reads_;  // INDEX nodes by what they read
  std::unordered_map<Id, State> state_of_;         // STAGE -> what begins as it
  std::unordered_map<Id, Id> taken_;               // STAGE -> the tensor whose buffer it goes on in
  std::unordered_set<Id> unfilled_, overwritten_;  // STAGEs that nothing is copied to; tensors that are gone at the end
  std::set<State> in_turn_;                        // states with a buffer that follows another one
  std::unordered_map<Id, int> in_parameter_;       // STAGE -> the parameter that its state updates
  std::unordered_map<Id, int> buffer_of_;
  std::unordered_map<Id, std::vector<int>> states_;  // by KERNEL
};

}  // namespace kiln::compiler
