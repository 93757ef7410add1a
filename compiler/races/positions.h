// Positions that run side by side, and what holds where they do.
#pragma once

#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/regions.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Positions that run side by side: those of a KERNEL, or of one group between two barriers.
struct Positions {
  Id kernel, scope;        // scope: the KERNEL, or the outermost FOR over a group's positions
  std::vector<Id> ranges;  // one for each axis
};

// Where a position with these ranges runs: there is one, so extents n + c and n * m are at least 1, and so are their factors;
// and the arguments lie in memory, which has below 2^61 elements.
Facts facts_where(Graph& g, const Program& p, const Positions& positions);

// What runs between two barriers: a FOR over the positions of a group, with one directly inside for each further axis.
// order: the nodes of the program, ascending.
std::vector<Positions> phases(const Graph& g, const Regions& regions, const std::vector<Id>& order);

}  // namespace kiln::compiler
