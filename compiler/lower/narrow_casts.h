// narrow_casts: vectors of 64-bit positions converted to floats -> conversions that the target has.
//
// before: CAST f32 (RAMP(base)) on index lanes that may exceed i32. after: the same numbers from f64 lanes where they are below
// 2^53: base and lane offsets are exact there, so the cast still rounds once. precondition: P level. postcondition: equal
// values; each FOR keeps its RANGE.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id narrow_casts(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
