// The striped order of a reduction over one range, as loops over a vector of 32 accumulators (docs/reference/numbers.md).
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// One reduction whose value is a scalar over `range`.
struct Striped {
  Op op;        // ADD, MUL, MIN, MAX, AND, OR
  DType dtype;  // of the accumulators
  Id identity;  // CONST
  Id value;     // element, of type dtype
  Id range;     // its position, 0..extent-1
  Id extent;
  bool lanes;  // the value may be computed for 32 positions at once
  int levels;  // 1: at most 65536 elements, or the order does not matter; 2: at most 65536 blocks; 3: any
};

Id lower_striped(Graph& g, LoopIds& loops, const Striped& r);

// The same for a small constant extent, without a loop.
Id lower_striped_unrolled(Graph& g, LoopIds& loops, const Striped& r);

}  // namespace kiln::compiler
