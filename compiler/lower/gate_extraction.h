// gate_extraction: moves conditions from indices to the memory accesses.
//
// Before: an index may be INVALID, which means "do not access". An operation on an INVALID operand is INVALID.
// After: no INVALID. Every access whose index could be INVALID has a gate, a bool that is false wherever the index was INVALID.
//   An access that already had a gate gets the AND of both. A gate that is always true is gone, also one that is
//   true because the outermost loop has an iteration: 0 < n in a loop over i < n - k. An inner loop proves
//   the same for accesses that depend on its range. Other accesses may run in front of that loop. If l is LOAD(b, i, alt, gate)
//   and c is part of the gate, WHERE(c, l, alt) becomes l. A STORE that leaves its element unchanged unless c holds, where c
//   compares positions, has the gate c.
// Requires: K level.
// Example: LOAD(b, WHERE(c, i, INVALID))  ->  LOAD(b, i, 0, gate c)
//   WHERE(c, LOAD(b, i, 0, gate c), 0)  ->  LOAD(b, i, 0, gate c)
//   STORE(b, i, WHERE(c, v, LOAD(b, i)))  ->  STORE(b, i, v, gate c)
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id gate_extraction(Graph& g, Id sink, const Facts& facts);

}  // namespace kiln::compiler
