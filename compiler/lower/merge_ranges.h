// merge_ranges: merges neighbouring LOOP ranges that every access treats as one range.
//
// Before: LOOP ranges i < M, j < N that occur in indices only together, as i * N + j.
// After: one range of extent M * N. Two ranges stay separate if an index would still divide by the inner extent. The
//   outermost `fixed` ranges stay.
// Requires: K level, no INVALID.
// Why: lanes and threads get longer loops. An image of 3 interleaved channels becomes one row.
// Example: y[i * N + j] = x[i * N + j] * 2 over i < M, j < N  ->  y[k] = x[k] * 2 over k < M * N
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id merge_ranges(Graph& g, Id sink, const Facts& facts, std::size_t fixed = 0);

}  // namespace kiln::compiler
