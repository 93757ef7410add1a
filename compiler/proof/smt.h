// A rule as a question to an SMT solver: are there integers where the guard holds and the two sides differ?
//
// Division and remainder become witnesses, one pair for each (dividend, divisor): x = n*q + r with r between 0 and n, and 0 for
// both where n is 0, as the IR defines them. They are unique, so the question stays the same. For every two integers u, v that
// a divisor n multiplies, n > 0 and u < v give n*u + n <= n*v (and so for n < 0): facts of arithmetic that the solver seldom
// finds by itself. Where two dividends of one divisor differ by a multiple n*k, u is the one quotient and v the other plus k.
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
