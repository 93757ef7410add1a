// compact: what a schedule needs, in a graph of its own.
//
// before: a schedule in a graph that also holds what passes have left behind. after: a graph of the nodes that the schedule
// names and of their sources alone, in the same order. postcondition: reading what write_schedule() writes gives, after
// compact, this very graph, id for id: so a pass that starts from a text does what it does in one go.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"

namespace kiln::compiler {

// `s` names nodes of `g` before, and of the result after.
Graph compact(const Graph& g, Schedule& s);

// The same, but the order is that of operands (Graph::in_order): it does not depend on the order in which nodes were made.
Graph in_order(const Graph& g, Schedule& s);

}  // namespace kiln::compiler
