// graph_cleanup: brings a tensor graph into the few forms that range_assignment knows.
//
// Before: any well-formed tensor graph.
// After: the same stored bits, with
//   - one axis for each REDUCE, last axis first (fma keeps its axes). Sums and products of f16 and bf16 over several axes are
//     computed in f32 and rounded once, after the last axis.
//   - one movement operation in place of a chain of reshapes, expands, permutes or slices, and none without an effect,
//   - elementwise operations before the `expand` of their operands: sin(expand(x)) is expand(sin(x)), so that the cost of a
//     value counts once for each different element. Selections and conditions stay,
//   - constants in place of tensors with a static extent of 0,
//   - no stores of such tensors, no stores of a parameter's own value, no `stage` of a tensor that has storage, no dead nodes.
// Example: reduce x, sum, axes [0, 1]  ->  reduce (reduce x, sum, axes [1]), sum, axes [0]
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void graph_cleanup(Graph& g, Program& p);

}  // namespace kiln::compiler
