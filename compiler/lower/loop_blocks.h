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

// Makes a FOR over blocks of `width` iterations, and a FOR over the iterations behind the last whole block. Returns the second
// one, or the first one if nothing is left. Returns the loop itself if it is known to be shorter than a block.
// of_block(r) makes the nodes of one block. The RANGE r is the first iteration of that block.
Id loop_in_blocks(Graph& g, RangeIds& loops, Id loop, int width, const std::function<BlockNodes(Id)>& of_block);

}  // namespace kiln::compiler
