// Integer expressions over the program's symbols as the postfix code of the program description (kiln_expr).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/run_expression.h"
#include "compiler/ir/symbols.h"

namespace kiln::compiler {

// Without the closing end. scale multiplies the result.
std::vector<std::int64_t> postfix(const Graph& g, Id expression, const SymbolIndex& symbols, std::int64_t scale = 1);

}  // namespace kiln::compiler
