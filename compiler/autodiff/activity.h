// Activity: the values between some x and y in forward mode, also through loops and kernels, and the scopes that must be built
// again with tangents.
//
// A CARRY and a GET depend on the initial value and on the next or final value of their slot, so the values on the way are
// found by a search that repeats until nothing changes. A slot that is not active has no tangent.
#pragma once

#include <unordered_set>

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

class Activity {
 public:
  Activity(const Rules& rules, Id y, std::span<const Id> xs);

  // The nodes below y, sources first.
  const std::vector<Id>& nodes() const { return nodes_; }
  // Whether the node depends on an x and y depends on it.
  bool between(Id node) const { return between_.contains(node); }
  bool depends(Id node) const;  // on an x that is another node
  // The operands of a node that depend on an x.
  std::vector<Edge> edges(Id node) const;

  // The FOR or KERNEL below y that owns the RANGE; no_id: y is inside of it.
  Id owner(Id range) const;
  // Whether the scope has a slot between x and y, or belongs to the region of such a scope.
  bool is_copied(Id scope) const { return copied_.contains(scope); }
  // Whether the node belongs to the region of a scope that is copied.
  bool is_inside(Id node) const { return inside_.contains(node); }
  // Whether the node belongs to the body of a KERNEL, whose values are numbers.
  bool in_kernel(Id node) const { return in_kernel_.contains(node); }
  // Whether the RANGE belongs to a KERNEL that y is inside of.
  bool is_of_kernel_around(Id range) const;
  // The slots of a scope that are between x and y, ascending.
  std::vector<std::size_t> slots(Id scope) const;

 private:
  std::vector<Id> influences(Id node) const;
  void find_regions();

  const Rules& rules_;
  const Graph& g_;
  std::vector<Id> nodes_;
  std::unordered_map<Id, Id> owners_;  // by RANGE
  std::unordered_set<Id> active_, between_, copied_, inside_, in_kernel_;
};

// The value or state of a slot after one iteration.
Id next_of_slot(const Graph& g, Id scope, std::size_t slot);

}  // namespace kiln::compiler::autodiff
