// Orders the nodes of regions. Internal to regions.cpp.
#pragma once

#include "compiler/ir/regions.h"

namespace kiln::compiler {

// Fills `nodes` of every region from r.of, r.owned, parents and in_kernel. `reached` ascends.
void order_regions(const Graph& g, std::span<const Id> reached, Regions& r);

}  // namespace kiln::compiler
