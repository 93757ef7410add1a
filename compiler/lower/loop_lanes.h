// loop_lanes: makes lanes of the iterations of loops in kernels with one work item.
//
// Before: a FOR that carries states of memory only, in a kernel with one work item. Each iteration stores to neighbours of
//   the elements of the iteration before.
// After: FORs over vectors of iterations, each with a FOR over single iterations for the rest (a masked one if the target has
//   masks). If the call decides that an iteration needs what an earlier one stores (loop_accesses.h), the last of these FORs
//   runs all iterations one by one. Vectors end where an iteration stores to an element that all iterations load. All FORs
//   carry the same states, one after the other. A FOR that carries only sums in order has vectors of their terms
//   (vector_terms.h).
// Requires: K level, scalar code, serial_atomics ran.
// Why: a kernel with one work item has no other lanes. Host loops over elements are such kernels.
// Example: FOR j in 0..N { d[i, j] = min(d[i, j], d[i, k] + d[k, j]) }  ->  FOR j in 0..min(N, k + 1) step 8 { d[i, j .. j+7] =
//   min(d[i, j .. j+7], d[i, k] + d[k, j .. j+7]) }, and the same FOR from k + 1 to N, because iteration k changes d[i, k]
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

struct LoopsWithLanes {
  Id sink;
  bool have_vectors;
};
LoopsWithLanes loop_lanes(Graph& g, RangeIds& loops, Id sink, const Facts& facts, const Target& target);

}  // namespace kiln::compiler
