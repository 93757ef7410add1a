// transpose_loads: lanes that walk along rows of a matrix read tiles of it and transpose them.
//
// Before: a FOR over k without effects. A LOAD in it has W lanes, a full register, whose elements are in different rows; the
//   next iteration loads the next elements of the same rows.
// After: a FOR whose iteration does W old ones, and the old FOR for the rest. An iteration makes W contiguous LOADs, one for
//   each lane's row, and SHUFFLEs that transpose them: vector k has the elements that iteration k loads.
// Requires: loops are made, indices are exact.
// Why: a gather makes an access for each lane. Here an access loads W elements.
// Example: y[i] = sum over k of x[k] * w[i, k], lanes over i. Old: a gather w[i .. i + 15, k] for each k. New: for k by 16: 16
//   rows w[i + l, k .. k + 15], transposed; 16 FMAs
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

Id transpose_loads(Graph& g, RangeIds& loops, Id sink, const Target& target);

// The LOADs of which lanes over the range make such LOADs.
std::vector<Id> rows_in_lanes(const Graph& g, std::span<const Id> stores, Id range);

}  // namespace kiln::compiler
