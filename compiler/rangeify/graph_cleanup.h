// Graph cleanup. What: gives the tensor graph the few forms that range assignment knows. A reduction over several axes becomes
// nested reductions over one axis, last axis first (fma keeps its axes; sums and products of f16 and bf16 become f32 before the
// first and round after the last); chains of movement operations merge and movement that moves nothing goes; a tensor with a
// static extent of 0 becomes a constant, and stores of such tensors go, and stores of a parameter's own value; dead nodes fall
// away. Before: sink over tensor operations. After: the same, with single-axis reductions. Precondition: a well-formed
// tensor-level program. Postcondition: every stored value has the same bits as before.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void graph_cleanup(Graph& g, Program& p);

}  // namespace kiln::compiler
