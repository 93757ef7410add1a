// Integer expressions over the program's symbols as the postfix code of the program description (kiln_expr).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/symbols.h"

namespace kiln::compiler {

// Code words of kiln/program.h.
enum class ExprCode : std::int64_t { end, push_const, push_sym, add, sub, mul, floordiv, floormod, min, max };

// Without the closing end. scale multiplies the result.
std::vector<std::int64_t> postfix(const Graph& g, Id expression, const SymbolIndex& symbols, std::int64_t scale = 1);

}  // namespace kiln::compiler
