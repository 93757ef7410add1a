// group_lanes: the positions of a group become lanes, between one barrier and the next.
//
// before: FORs over RANGEs of kind group, which carry states of memory only. after: the innermost of them go over vectors of
// positions, with a masked one for what is left; indices that grow evenly from lane to lane are RAMPs, others that are alike in
// all vectors become shuffles (lane_patterns.h); positions that do nothing are left out (group_bounds.h). Other RANGEs are of
// kind loop: those around, those of a few positions, and those whose positions touch what others write or may do so
// (group_accesses.h), which stay in order. precondition: K level, scalar code, atomics that stay are indivisible.
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/lower/target.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

bool has_groups(const Graph& g, Id sink);
Id group_lanes(Graph& g, LoopIds& loops, Id sink, const Facts& facts, const Target& target);

}  // namespace kiln::compiler
