// A rule as a question to an SMT solver: are there integers where the guard holds and the two sides differ?
#pragma once

#include <optional>
#include <string>

#include "compiler/proof/rule_text.h"

namespace kiln::compiler {

// With `limit` > 0 only variables of at most that magnitude are asked for: finds counterexamples, proves nothing. The answer is
// read with get-value, in the order of rule.variables. nullopt: an operation that has no such form (bit operations on two
// variables).
std::optional<std::string> smt_query(ParsedRule& rule, int limit = 0);

}  // namespace kiln::compiler
