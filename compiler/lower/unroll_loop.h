// unroll_loop: replaces a loop with constant bounds by its iterations.
//
// Before: a FOR with carried values, constant begin and end, and no effects.
// After: one copy of the body for each iteration, one after the other. The counter is a constant. Operations on integer
//   constants are computed, and gates that are always true or always false are gone.
// Requires: the loop has no condition, and no array belongs to one iteration.
// Example: FOR b in 0..2 { s = STORE(s, b, v) }  ->  STORE(STORE(s, 0, v), 1, v)
#pragma once

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// Whether the loop has the form that is required, and at most `most` iterations.
bool has_constant_count(const Graph& g, Id loop, std::int64_t most);
std::int64_t constant_count(const Graph& g, Id loop);

// The sink without the loop. Loops inside get RANGEs of their own in each iteration.
Id unroll_loop(Graph& g, RangeIds& loops, Id sink, Id loop);

}  // namespace kiln::compiler
