// Index expressions as text that Python would parse, with the same precedence and floor semantics:
//   + - * // % << >> & | ^ (also on conditions)   < <= > >= == != (chained as in Python)   and or not   True False   integers
//   min(a, b, ...)  max(a, b, ...)  where(c, a, b)  cdiv(a, b)  cmod(a, b)  abs(a)
// Integers are exact. A condition counts as 0 or 1 where an integer is expected; the reverse is an error. Division by 0 gives
// 0.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The node of a name: of dtype index, or bool if `condition` is set; no_id: the name is unknown.
using Resolve = std::function<Id(std::string_view name, bool condition)>;

// The expression as a node of dtype index or bool, of any depth (no recursion). Throws Diagnostic E-infix at `where`:column.
Id parse_infix(Graph& g, std::string_view text, const Resolve& resolve, std::string_view where = "expression");

// The text with as few parentheses as possible. A SYM is its name, a RANGE is r0, r1, ... by its number. Any other node outside
// the language is the operation's name in brackets.
std::string write_infix(const Graph& g, Id root);

}  // namespace kiln::compiler
