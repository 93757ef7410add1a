// piece_blocks: plans the loops of a copy of short pieces of 2, 4, 8.. elements, as into the panels of pack_operands, or of the
// pixels of a turned image.
//
// Before: one STORE of a LOAD. The innermost LOOP range counts the elements of a piece, and `between` is the next range. In one
//   of the two memories, neighbours along `between` are neighbouring pieces. In the other memory they are far apart, and
//   neighbours along an outer range i are neighbouring pieces.
// After: a plan with the loops
//   - [ranges before i] [blocks of i] [ranges up to between] [lanes] [copies of i], if the stores are far apart, or
//   - [ranges before i] [blocks of i] [blocks of between] [i] [lanes] [copies of between], if the loads are.
// Why: in the order of the ranges, neighbouring accesses are often in one set of the cache, and each in another page. Blocks
// use
//   a line as soon as it is in the cache, and write neighbours together.
// Example: y [W, H, 4] = x [H, W, 4] in the order of y: 16 columns of x, 16 pixels of each
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// one_register: elements of a register. nullopt: the kernel is no such copy.
std::optional<std::vector<LoopPlan>> piece_blocks(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                                  int one_register);

}  // namespace kiln::compiler
