// idle_loops: skips the loop of a reduction in an iteration that selects no lane of its results.
//
// Before: a FOR that carries values and has no effects. Its results reach stores only through WHEREs and gates, whose
//   conditions compare positions with each other or with loaded bounds.
// After: the same FOR, which ends at its begin if the conditions hold in no lane. The test of a vector compares its least or
//   greatest lane, so it may hold where no lane does; then the loop runs in vain, as before. The results are the same: a WHERE
//   that no lane selects gives its other value.
// Requires: P level, before index_dtype.
// Why: causal attention masks half of all scores, a band or a padded batch most of them. Each of these scores is a product
//   over all components of a query and a key.
// Example: for j by 8: y[j ..] = WHERE(j + lane <= i, GET(FOR k in 0..64 ..), 0)  ->  the FOR over k ends at
//   WHERE(j <= i, 64, 0)
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id idle_loops(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
