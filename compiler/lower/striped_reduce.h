// Builds the loops of a reduction over one range in striped order, with a vector of 32 accumulators. docs/reference/numbers.md
// defines the order.
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// One reduction whose value is a scalar over `range`.
struct Striped {
  Op op;        // ADD, MUL, MIN, MAX, AND, OR
  DType dtype;  // type of the accumulators
  Id identity;  // CONST
  Id value;     // the element to reduce, of type dtype
  Id range;     // the position of the element, 0..extent-1
  Id extent;
  bool lanes;  // whether `value` may be computed for 32 positions at once
  int levels;  // 1: at most 65536 elements, or any order; 2: at most 65536 blocks of 65536; 3: any extent
};

Id lower_striped(Graph& g, RangeIds& loops, const Striped& r);

// The same for a small constant extent, written out without a loop.
Id lower_striped_unrolled(Graph& g, RangeIds& loops, const Striped& r);

}  // namespace kiln::compiler
