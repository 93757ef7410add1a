// workgroup_lanes: vectorises the loops over the work items of a workgroup between two barriers.
//
// Before: FORs over RANGEs of kind workgroup. They carry states of memory only.
// After: no RANGE of kind workgroup. A FOR over work items becomes a FOR over vectors of work items, and a masked FOR for the
//   rest. An index that grows evenly from lane to lane becomes a RAMP. An index with the same lane offsets in all vectors
//   becomes contiguous vectors and shuffles (lane_patterns.h). Work items that do nothing are left out (workgroup_bounds.h). A
//   FOR becomes a plain loop in these cases: a loop inside it has vectors; it has few work items; it has large arrays; one work
//   item may access an element that another work item of the same vector writes (workgroup_accesses.h).
// Requires: K level, scalar code, serial_atomics ran.
// Example: FOR t in 0..256 { a[t] = x[t] }  ->  FOR t in 0..256 step 8 { a[t .. t+7] = x[t .. t+7] }
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

bool has_workgroups(const Graph& g, Id sink);
Id workgroup_lanes(Graph& g, RangeIds& loops, Id sink, const Facts& facts, const Target& target);

}  // namespace kiln::compiler
