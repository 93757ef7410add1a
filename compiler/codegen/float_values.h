// Facts about a node of type f32 or f64 that its operation alone gives: its constant, and whether it may be NaN.
#pragma once

#include <llvm/ADT/APFloat.h>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The value of a CONST.
llvm::APFloat float_of(const Graph& g, Id constant);

// The constant that all lanes of a float have; no_id: another node.
Id float_constant(const Graph& g, Id id);

// False: it is a constant that is no NaN, or a cast of an integer.
bool may_be_nan(const Graph& g, Id id);

}  // namespace kiln::compiler
