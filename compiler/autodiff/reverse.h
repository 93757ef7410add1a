// Reverse mode: adjoints of the nodes between y and some x, from the last node to the first.
//
// The adjoint of a value is the sum of its contributions in the order in which they arrive: later user first (in the order of
// Graph::in_order), operand 0 of a user first. docs/reference/numbers.md has this order.
//
// Selects: a node that is used only for one branch of a WHERE belongs to this branch if it is elementwise and of the shape of
// the WHERE. Inside a branch adjoints are not masked. What leaves a branch is 0 where the branch is not taken. So the
// derivative of a branch that is not taken does not matter, even if it is infinite or NaN.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// For each x the sum of cotangent * y, differentiated by x; no_id: y does not depend on it. derivative: the node for errors.
std::vector<Id> gradients(Rules& rules, Id derivative, Id y, Id cotangent, std::span<const Id> xs);

}  // namespace kiln::compiler::autodiff
