// What is known about the values of f32 and f64 without their bounds.
#pragma once

#include <llvm/ADT/APFloat.h>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

llvm::APFloat float_of(const Graph& g, Id constant);

// The constant that all lanes of a float have; no_id: another node.
Id float_constant(const Graph& g, Id id);

bool may_be_nan(const Graph& g, Id id);

}  // namespace kiln::compiler
