// Forward mode: the tangent of y along directions, from the first node to the last. All tangents may have one more leading
// axis, of K directions at once.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// derivative: the TANGENT over new nodes. no_id: y does not depend on any x.
Id tangent(Rules& rules, Id derivative, Id y, std::span<const Id> x_and_v);

// The tangent of one node, which Twins does not make, from the tangents of its operands.
struct NodeOfPath {
  Id node;
  std::span<const Edge> edges;
  bool in_kernel;  // whether it is a value of a work item
};
// lead: the extent of the axis of directions; no_id: there is none.
Id tangent_of_node(Rules& rules, Id derivative, Id lead, const NodeOfPath& at, const std::unordered_map<Id, Id>& tangents);

}  // namespace kiln::compiler::autodiff
