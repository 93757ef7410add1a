// reduce_lowering: REDUCE values -> pure loops with carried accumulators.
//
// before: REDUCE{values, RANGEs} args {kind, order}. after: GET of a FOR. Sequential: one scalar accumulator through the nest
// of its ranges in order. Striped: 32 accumulators as one vector (striped_reduce.h). argmax, argmin carry (value, position).
// f16 and bf16 accumulate in f32 and round once. Where the order cannot matter (min, max, any, all, integers) the form is free:
// stripes when the elements are contiguous in the range, else sequential.
// precondition: K level, half-precision arithmetic decomposed. postcondition: no REDUCE; LOOP ranges are still RANGE values.
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id reduce_lowering(Graph& g, LoopIds& loops, Id sink, const Facts& facts);

}  // namespace kiln::compiler
