// Translates integer expressions over the program's symbols into the postfix code of the program description (kiln_expr).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/run_expression.h"
#include "compiler/ir/symbols.h"

namespace kiln::compiler {

// The code of `expression` times `scale`, without the word `end`.
std::vector<std::int64_t> postfix(const Graph& g, Id expression, const SymbolIndex& symbols, std::int64_t scale = 1);

}  // namespace kiln::compiler
