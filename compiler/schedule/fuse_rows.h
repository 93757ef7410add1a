// fuse_rows: fuses kernels that work row by row into one kernel with tile steps.
//
// Before: kernel A stores T over ranges (i, j). Kernel B, over (i, k), loads from T only its own row i, or rows near it.
// After: one kernel with the ENDs of A, then the ENDs of B, as tile steps. The outermost range t counts tiles of rows.
//   A tile of one row is END(.., t, j). A tile of several rows is END(.., t, i, j), with row t*rows + i. If several ranges
//   count the rows, the rows of a tile differ in the innermost of these ranges only. If only this kernel uses T, T becomes a
//   tile buffer (Buffer::tile), which stores the elements of one tile. If B loads a halo (rows next to its own), A computes the
//   halo again in each tile, and the tile buffer includes it.
//   A tensor that a `stage` asks for stays apart from its readers, unless a reader only joins such tensors, as the phases of
//   the derivative of a convolution with steps. A kernel that sums over i the products of rows of T and rows of another tensor
//   becomes two tile steps: one that stores zeros in the first tile of a group, and one that adds the products of the tile's
//   rows to the sums in memory, by a FOR that carries the sum. The tiles of a group then run in order (tile_chain.h).
// Requires: kernel_split ran.
// Ensures: the same elements are computed from the same elements, and each sum in its order.
// Why: B loads a tile of T while that tile is in cache. row_clusters.h decides which kernels are fused. The FOR is the loop of
// a
//   product, so register_block gives it accumulators in registers, as it does to a REDUCE.
// Example: m[i] = max_j x[i, j]; y[i, j] = x[i, j] - m[i]   ->
//   for t: tile step 1: m[t] = max_j x[t, j], one element in each tile of m; tile step 2: y[t, j] = x[t, j] - m[t]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void fuse_rows(Graph& g, Schedule& s);

}  // namespace kiln::compiler
