// WorkItems: work items that run at the same time, and the facts that hold where they run.
#pragma once

#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/regions.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// The work items of a KERNEL, or of one workgroup between two barriers.
struct WorkItems {
  Id kernel, scope;        // scope: the KERNEL, or the outermost FOR over a workgroup's work items
  std::vector<Id> ranges;  // one per axis
};

// The program's facts, and the facts that hold where a work item of `work_items` runs. Since there is a work item, each extent
// is at least 1: an extent n + c gives n >= 1 - c, an extent n*m gives n >= 1 and m >= 1. Every argument fits into memory, so
// it has at most 2^61 elements.
Facts facts_where(Graph& g, const Program& p, const WorkItems& work_items);

// The barrier intervals of workgroups. Each is a FOR over work items, with another FOR directly inside it for each further
// axis. order: the nodes of the program, ascending.
std::vector<WorkItems> barrier_intervals(const Graph& g, const Regions& regions, const std::vector<Id>& order);

}  // namespace kiln::compiler
