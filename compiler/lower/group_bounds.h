// group_bounds: positions of a group that do nothing between two barriers are not gone through.
//
// before: FOR over a group's positions in which all stores and atomics happen where t < n, t <= n or t == n: t is the position,
// n the same for all. after: it ends there (of t == n: begins there too), and the condition is gone. postcondition: where the
// FOR begins at another place than 0, it has one turn at most.
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// range: of the FOR.
Id group_bounds(Graph& g, Id sink, Id range);

}  // namespace kiln::compiler
