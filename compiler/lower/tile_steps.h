// tile_steps: builds one loop over tiles around the tile steps of a fused kernel.
//
// Before: a kernel whose ENDs have different ranges, except for the outermost range, which counts tiles.
// After: one FOR over tiles, and in it the loops of each tile step, one tile step after the other. Each tile step has its own
//   plan, and every FOR has a RANGE of its own. A tile buffer stores one tile for each chunk of tiles: the access to element
//   t * tile + rest becomes an access to $begin * tile + rest. In a kernel with tile buffers $begin and $end count chunks, at
//   most `most_chunks`. In other kernels they count tiles. If a tile step continues a sum from tile to tile, a chunk has all
//   tiles of this sum (tile_chain.h).
// Requires: K level, no INVALID, reductions lowered.
// Example: SINK(END(a, t, i), END(b, t, j))  ->  FOR t { FOR i { a }, FOR j { b } }
#pragma once

#include <span>
#include <vector>

#include "compiler/lower/lowering.h"

namespace kiln::compiler {

// The tile steps of a kernel: one SINK for each sequence of ENDs with equal ranges.
std::vector<Id> tile_steps_of(Graph& g, Id sink);

Id joined(Graph& g, std::span<const Id> tile_steps);  // one SINK with the effects of all tile steps

// By kernel slot: the elements of one tile of the buffer, or no_id for a buffer that is stored whole.
std::vector<Id> tile_sizes_of(const Schedule& schedule, const Kernel& kernel);

// The range of the tiles, which all tile steps have outermost; no_id: drop_unit_ranges has removed it.
Id tile_range(const Graph& g, std::span<const Id> tile_steps);

// Sets the kernel's trip count, and returns its SINK.
Id in_tiles(Graph& g, Lowering& k);

}  // namespace kiln::compiler
