// narrow_casts: casts vectors of 64-bit positions to floats with conversions that the target has.
//
// Before: CAST to f32 or f64 of a RAMP of indices that may exceed i32.
// After: if the magnitudes of the indices are below 2^53, the vector is computed in f64: the base, cast as a scalar, plus
//   the lane offsets, cast from i32. The result is the same as before: this sum is exact, and only the last cast rounds.
//   RANGEs do not change.
// Requires: P level.
// Why: AVX2 has no conversion of 64-bit integer vectors to floats.
// Example: CAST f32x8 (RAMP base)  ->  CAST f32x8 (ADD f64x8 (BROADCAST (CAST f64 base), {0, 1, ..., 7}))
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id narrow_casts(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
