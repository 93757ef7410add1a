// Copies of expressions in which some nodes are replaced. Loops and kernels that change get RANGEs of their own.
#pragma once

#include <functional>
#include <unordered_set>

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// Puts the copies in the place of the roots. replace(node, copy): the node in the place of one of `leaves`. copy: the same node
// over the new sources.
void rebuild(Rules& rules, std::span<Id> roots, const std::unordered_set<Id>& leaves,
             const std::function<Id(Id node, Id copy)>& replace);

}  // namespace kiln::compiler::autodiff
