// A rule as a question to an SMT solver: are there integers for which the guard holds and the two sides differ?
#pragma once

#include <optional>
#include <string>

#include "compiler/proof/rule_text.h"

namespace kiln::compiler {

// limit > 0: only variables of at most that magnitude; finds counterexamples but proves nothing. get-value returns the
// variables in the order of rule.variables. nullopt: an operation without such a form (bit operations on two variables).
std::optional<std::string> smt_query(ParsedRule& rule, int limit = 0);

// The question in bit-vectors on 64-bit variables, for rules without a form in smt_query(): shifts and masks by variables.
std::optional<std::string> smt_bits_query(const ParsedRule& rule);

// The question split by the signs of all divisors (and of dividends of divisions toward zero), in one script with one check-sat
// for each case. everything: adds the facts of SmtTerms::relate_everything(). nullopt: not expressible, or too many signs.
struct Cases {
  std::string script;
  std::size_t count = 0;
};
std::optional<Cases> smt_cases(ParsedRule& rule, bool everything);

}  // namespace kiln::compiler
