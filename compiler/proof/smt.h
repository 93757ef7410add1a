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

// The question in bit-vectors: for rules that smt_query() has no form for. Shifts and masks by variables, on 64-bit variables.
std::optional<std::string> smt_bits_query(const ParsedRule& rule);

// The same question, once for each sign of every divisor (and of every dividend of a division toward zero): a script with one
// check-sat for each. `everything`: with all facts of the above kind. nullopt: none, or too many signs.
struct Cases {
  std::string script;
  std::size_t count = 0;
};
std::optional<Cases> smt_cases(ParsedRule& rule, bool everything);

}  // namespace kiln::compiler
