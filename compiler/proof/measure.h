// Shows that rewriting ends: each rule makes the pair (divisions, weight) smaller for all terms that its variables may stand
// for. Divisions and bit operations inside these terms count too, once for each occurrence of the variable. Weights are
// polynomials in the weights of the variables, so a rule may copy a variable if it saves more than the copy costs:
//   constants 2 (an operation on constants alone is folded)   a + b: a+b+2   a - b: a+2b+2   -a: 2a   a * b: ab
//   a // b: ab+1   a % b: ab^2+1   cdiv, cmod: 32 times floor's   min, max: a+b+2   abs: 2a+1   shifts: ab+8
//   & | ^: 5(a+b+32)   <: a+b+1   <= == !=: a+b+6   not: a+6   and, or: a+b+1   where: c+a+b+3
// A variable has weight 2 or more. A single variable as lhs, which is then not constant, has weight 3 or more.
#pragma once

#include <span>
#include <string>

#include "compiler/proof/rule_text.h"

namespace kiln::compiler {

// constants: variables that are always bound to integers. Returns "" if the rule makes the pair smaller, else the difference
// between lhs and rhs as text.
std::string not_smaller(const RuleText& rule, std::span<const std::string> constants);

}  // namespace kiln::compiler
