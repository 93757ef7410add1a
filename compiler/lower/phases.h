// phases: builds one loop over tiles around the phases of a fused kernel.
//
// Before: a kernel whose ENDs have different ranges, except for the outermost range, which counts tiles.
// After: one FOR over tiles, and in it the loops of each phase, one phase after the other. Each phase has its own plan. A
//   buffer with a window stores one tile for each chunk of tiles: the access to element t * window + rest becomes an access to
//   $begin * window + rest. In such a kernel $begin and $end count chunks, at most `most_chunks`; otherwise they count tiles.
//   Every FOR has a RANGE of its own.
// Requires: K level, no INVALID, reductions lowered.
// Example: SINK(END(a, t, i), END(b, t, j))  ->  FOR t { FOR i { a }, FOR j { b } }
#pragma once

#include <span>
#include <vector>

#include "compiler/lower/lowering.h"

namespace kiln::compiler {

// The phases of a kernel: one SINK for each sequence of ENDs with equal ranges.
std::vector<Id> phases_of(Graph& g, Id sink);

Id joined(Graph& g, std::span<const Id> phases);  // one SINK with the effects of all phases

// By kernel slot: the elements of the buffer's window, or no_id for a buffer that is stored whole.
std::vector<Id> windows_of(const Schedule& schedule, const Kernel& kernel);

// The range of the tiles, which all phases have outermost; no_id: it had one iteration, and is gone.
Id tile_range(const Graph& g, std::span<const Id> phases);

// Sets the kernel's trip count, and returns its SINK.
Id in_tiles(Graph& g, Lowering& k);

}  // namespace kiln::compiler
