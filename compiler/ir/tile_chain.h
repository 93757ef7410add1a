// Tile steps that continue a sum from tile to tile.
//
// Such a tile step loads the element that it stores, adds the terms of its tile's rows, and stores the sum. So the tiles that
// store the same elements run in ascending order, in one chunk.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether the END loads the element that it stores. Only for kernels with several tile steps, and not for parameters whose
// value on entry is read: those a tile step may change in place, each element once (elementwise_siblings.cpp).
bool continues_sum(const Graph& g, Id end);

// How many tiles in a row store the same elements; no_id: no tile step continues a sum. The tiles tile * n .. tile * n + n - 1
// run in order, for each n. tile: the RANGE of the tiles. effects: ENDs, or STOREs.
Id tiles_in_order(const Graph& g, std::span<const Id> effects, Id tile);

}  // namespace kiln::compiler
