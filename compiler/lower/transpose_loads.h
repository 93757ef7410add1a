// transpose_loads: replaces loads from different rows of a matrix by loads of tiles, which shuffles transpose.
//
// Before: a FOR over k without effects. A LOAD in it has W lanes, a full register, whose elements are in different rows; the
//   next iteration loads the next elements of the same rows.
// After: a FOR in which one iteration does the work of W old iterations, and the old FOR for the rest. The first one has W
//   contiguous LOADs, one for each lane's row, and SHUFFLEs that transpose them: vector k has the elements of iteration k.
// Requires: loops are made, indices are exact.
// Why: a gather accesses memory once for each lane. A contiguous LOAD gets W elements in one access.
// Example: y[i] = sum over k of x[k] * w[i, k], lanes over i. Old: a gather w[i .. i + 15, k] for each k. New: for k by 16: 16
//   rows w[i + l, k .. k + 15], transposed; 16 FMAs
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

Id transpose_loads(Graph& g, RangeIds& loops, Id sink, const Target& target);

// The LOADs that would become such LOADs if the range became lanes.
std::vector<Id> rows_in_lanes(const Graph& g, std::span<const Id> stores, Id range);

}  // namespace kiln::compiler
