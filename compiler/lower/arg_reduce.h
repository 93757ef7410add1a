// The loops of argmax and argmin: the index of the best element. The first of equal elements wins, and a NaN beats every
// element except a NaN. The index is 0 if there are no elements.
#pragma once

#include "compiler/lower/reduction.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// One element after the other.
Id arg_reduce(Graph& g, RangeIds& loops, const Facts& facts, const Reduction& r);

// In lanes, for contiguous elements of one range: the extremum, and then the least position of an element that equals it or, if
// the extremum is NaN, of a NaN.
Id arg_reduce_in_lanes(Graph& g, RangeIds& loops, const Facts& facts, const Reduction& r);

}  // namespace kiln::compiler
