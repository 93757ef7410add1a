// Replaces a FOR by one over blocks of its iterations, which run in the same order, and one for the rest.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// What nodes of the body become, for each iteration of a block.
using BlockNodes = std::vector<std::unordered_map<Id, Id>>;

// Whether the FOR has iterations of step 1, no condition, and only values that it carries.
bool may_run_in_blocks(const Graph& g, Id loop);

// The FOR over what is left of the iterations after the blocks of `width`; the FOR over the blocks if nothing is left; the loop
// itself if it has fewer iterations. of_block(r) makes the nodes of the block whose first iteration is the value of the RANGE
// r.
Id loop_in_blocks(Graph& g, RangeIds& loops, Id loop, int width, const std::function<BlockNodes(Id)>& of_block);

}  // namespace kiln::compiler
