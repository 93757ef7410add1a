// chain_borders: cuts the loop of a reduction where conditions on the range change.
//
// Before: a FOR that carries values and has no effects and no loop inside. Its body selects or loads values under conditions.
//   These compare the range with positions that are the same in all iterations.
// After: FORs one after the other, which carry the same values: the iterations before, between and behind the borders. Before
//   and behind, the conditions are constant, so they are gone. The elements keep their order, so the result has the same bits.
// Requires: P level, behind loop_nest, before index_dtype.
// Why: a factor of a product may be triangular or banded. The rows of a register block differ in a few iterations only, but all
//   iterations would pay for the selection. loop_interiors does the same for lanes along the range, before loop_nest.
// Example: rows i and i + 1 of a triangle:
//   for k in 0..n: a += WHERE(k <= i, x[i, k], 0) * b[k], c += WHERE(k <= i + 1, x[i + 1, k], 0) * b[k]  ->
//   for k in 0..i + 1: a += x[i, k] * b[k], c += x[i + 1, k] * b[k]; for k in i + 1..i + 2: as before;
//   for k in i + 2..n: a += 0 * b[k], c += 0 * b[k]
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id chain_borders(Graph& g, RangeIds& loops, Id sink, const Facts& facts);

}  // namespace kiln::compiler
