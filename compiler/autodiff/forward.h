// Forward mode: the tangent of y along directions, from the first node to the last. All tangents may have one more leading
// axis, of K directions at once.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// derivative: the TANGENT over new nodes. no_id: y does not depend on any x.
Id tangent(Rules& rules, Id derivative, Id y, std::span<const Id> x_and_v);

}  // namespace kiln::compiler::autodiff
