// carried_interval: computes bounds of an integer that a loop carries, for example a distance that is halved,
// or a clamped counter.
#pragma once

#include "compiler/index/interval.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

// carry: a CARRY of an integer type of at most 32 bits. init: bounds of its initial value. yield: its value after an iteration.
// The candidate is the smallest interval that contains 0 and `init`. It is the result if it is an inductive invariant: an
// iteration that begins in it ends in it. Otherwise the result is the whole range of the type.
// Example: d starts in [0, 128] and becomes d / 2, so d is always in [0, 128].
Interval carried_interval(const Graph& g, Id carry, Interval init, Id yield);

}  // namespace kiln::compiler
