// mask_loops: changes loops that lanes may leave at different iterations into loops that run while any lane is active.
//
// Before: FORs whose bounds or condition depend on the RANGE `lanes`, which belongs to the kernel or to a FOR. If it belongs to
//   a FOR, only loops inside that FOR change.
// After: no loop bound depends on `lanes`. Each changed FOR has a condition: its carried value 0 says whether the lane is
//   active. An inactive lane keeps its carried values, and its accesses have a gate that is false. If the first iteration
//   differs between lanes, the loop counts iterations from 0. If each lane runs all iterations or none, the end is
//   WHERE(condition, end, begin) before and the common end after: then the condition is the active flag of all iterations, the
//   carried values of inactive lanes run on, and a WHERE behind the loop discards them.
// Requires: scalar code, K level.
// Why: the changed code gives the same results lane by lane and as vectors, so later steps may make vectors of it.
// Example: FOR j in 0..n[i] { s += x[j] }  ->  FOR j while a { s = a ? s + x[j] : s; a = a && j + 1 < n[i] }, a is the active
//   flag.
//   FOR j in 0..(c[i] ? n : 0) { s = s + x[j] }  ->  t = FOR j in 0..n while c[i] { s = s + x[j] }; c[i] ? t : s before the
//   loop
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

Id mask_loops(Graph& g, RangeIds& loops, Id sink, Id lanes);

}  // namespace kiln::compiler
