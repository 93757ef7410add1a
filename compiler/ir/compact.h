// compact: copies the nodes that a schedule needs into a graph of their own.
//
// Before: a schedule in a graph that also contains nodes that passes left over.
// After: a graph of only the nodes that the schedule names and their sources, in the same order.
// Why: reading the text of write_schedule() and compacting gives this graph again, with equal ids. So a pass that starts from a
//   text does the same as in one run of all passes.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// Changes `s` to name nodes of the result.
Graph compact(const Graph& g, Schedule& s);

// The same, but in the order of operands (Graph::in_order), which does not depend on the order in which nodes were made.
Graph in_order(const Graph& g, Schedule& s);

}  // namespace kiln::compiler
