// Copies of a loop that carries values and has no effects, for parts of its iterations.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// The values that the FOR carries, after its last iteration.
std::vector<Id> results_of(Graph& g, Id loop);

// A copy of the FOR, with other bounds, other initial values and a new RANGE. replaced: for some nodes of the body, the nodes
// that the copy has in their place. Conditions that become constant disappear. The body has no loops that depend on the RANGE.
Id part_of_loop(Graph& g, RangeIds& loops, Id loop, Id begin, Id end, std::vector<Id> init,
                const std::unordered_map<Id, Id>& replaced);

}  // namespace kiln::compiler
