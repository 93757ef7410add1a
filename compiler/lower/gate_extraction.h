// gate_extraction: poison in indices -> gates of the memory accesses.
//
// before: LOAD(b, WHERE(c, i, INVALID)). after: LOAD(b, i, alt 0, gate c); a gate that was there is kept (and). The same for
// STORE. INVALID may sit anywhere below the index: an operation on a poisoned value is poisoned. precondition: K level.
// postcondition: no INVALID is left; every gate is false wherever the index was poisoned.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id gate_extraction(Graph& g, Id sink);

}  // namespace kiln::compiler
