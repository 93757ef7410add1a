// reduce_lowering: replaces REDUCE by loops with carried accumulators.
//
// Before: REDUCE{values, RANGEs} args {kind, order}.
// After: no REDUCE. Its value is a GET of a FOR without effects or, for few elements, an expression without a loop.
//   - Sequential: one scalar accumulator, through the nest of the ranges in order.
//   - Striped: 32 accumulators in one vector (striped_reduce.h). Exception: if the values are contiguous over the kernel's
//     innermost loop and not over the range, there are 32 scalar accumulators, and that loop becomes lanes later.
//     The code for symbolic extents has branches for short ones, which are written out.
//   - If the order cannot matter (min, max, any, all, integers): striped for contiguous elements, else sequential. Products of
//     contiguous values that fit i16 are added as pairs of neighbours, by DOT2.
//   - argmax and argmin carry the best value and its position or, over contiguous elements, find the extremum and then the
//     first position that has it. Positions are i32 if the extent fits.
//   - A maximum of magnitudes (ABS) reduces their bits as integers.
//   f16 and bf16 accumulate in f32 and round once.
// Requires: K level, decompose_half ran.
// Example: REDUCE{x[k], k < K} args {sum, sequential}  ->  GET of FOR k in 0..K { acc = acc + x[k] }, where acc starts at 0
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/lower/stores_in_reductions.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// tile: the range of the tiles, for a tile step; else no_id.
Id reduce_lowering(Graph& g, RangeIds& loops, Id sink, const Facts& facts, Id tile = no_id,
                   const StoresInReductions& stores = {});

}  // namespace kiln::compiler
