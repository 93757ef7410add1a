// Expressions of scalars as one line of text.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace kiln::compiler::testing {

// y: a node that is written "y"; no_id: none.
std::string expression_text(const Graph& g, Id id, Id y);

}  // namespace kiln::compiler::testing
