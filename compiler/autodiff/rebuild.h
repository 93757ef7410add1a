// A copy of an expression in which some nodes are replaced. Loops and kernels that change get RANGEs of their own.
#pragma once

#include <functional>
#include <unordered_set>

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// replace(node, copy): the node in the place of one of `leaves`. copy: the same node over the new sources.
Id rebuilt(Rules& rules, Id root, const std::unordered_set<Id>& leaves, const std::function<Id(Id node, Id copy)>& replace);

}  // namespace kiln::compiler::autodiff
