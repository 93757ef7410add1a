// What a loop's variable stays within: halved distances, counters that are clamped.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/interval.h"

namespace kiln::compiler {

// Of a CARRY of an integer type of up to 32 bits, which begins within `init` and becomes `yield` after each turn. The interval
// of 0 and `init`, when a turn that begins in it ends in it; else all of the type.
Interval carried_interval(const Graph& g, Id carry, Interval init, Id yield);

}  // namespace kiln::compiler
