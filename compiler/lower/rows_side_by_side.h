// Rows side by side: a reduction whose lanes run along the rows reads several rows at the same time.
//
// DRAM delivers several streams faster than one, and a cache delivers one stream faster. If elements are narrower than the
// values, several streams pay in any case. A second pass over one row finds it in the first-level cache; several rows do not
// fit. If the extents of a call decide whether rows fit the caches, the code tests it: LoopPlan::streams.
#pragma once

#include <span>

#include "compiler/ir/graph.h"
#include "compiler/lower/vectorize_plan.h"
#include "compiler/symbolic/facts.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// Plans rows side by side where they pay. is_narrow: some elements in memory are narrower than the values. Requires: the bounds
// of inner loops do not depend on the range of the plan.
void rows_side_by_side(const Graph& g, std::span<const Id> stores, bool is_narrow, const Target& target, LoopPlan& plan);

// An index expression: 1 if the LOAD reads more than the caches hold in all iterations of the range around it, else 0.
Id is_beyond_caches(Graph& g, Id load, Id range, const Facts& facts);

}  // namespace kiln::compiler
