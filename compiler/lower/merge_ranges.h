// merge_ranges: neighbouring LOOP ranges that every access walks as one -> one range.
//
// before: ranges i < M, j < N used only as i*N + j. after: one range of extent M*N, so that lanes and threads get long loops
// (an image of 3 interleaved channels is one row). precondition: K level, no INVALID. postcondition: equal stores; a pair is
// merged only when no division by its inner extent is left; the outermost `fixed` ranges stay.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Id merge_ranges(Graph& g, Id sink, const Facts& facts, std::size_t fixed = 0);

}  // namespace kiln::compiler
