// `kiln-opt rules`: lists rewrite rules, proves or refutes them with Z3, mutates their guards.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "compiler/proof/check_rule.h"

namespace kiln::generator {

struct RulesOptions {
  unsigned jobs = 1;
  compiler::SolverLimits limits;
  std::string cache;  // folder for verdicts, by hash of the question; empty: no cache
};

// The verdict is unknown if some step of the proof is not proven.
compiler::RuleVerdict check_rule(const compiler::RuleText& rule, const RulesOptions& options);

// Prints one line for each rule, in order, then the totals. Returns whether all rules are proven.
bool check_rules(std::span<const compiler::RuleText> rules, const RulesOptions& options, std::ostream& out);

// Prints Kiln's own rules, one on a line.
void list_rules(std::ostream& out);

// Checks that each of Kiln's own rules makes its node smaller (compiler/proof/measure.h), or else states why rewriting ends.
// Prints the rules that state a reason, then the totals. Returns whether each rule does one of the two.
bool weigh_rules(std::ostream& out);

// Checks every mutation of every guard of Kiln's own rules (compiler/proof/mutate.h). Prints the equivalent and the surviving
// mutants, then the totals. Returns whether none survives.
bool mutate_rules(const RulesOptions& options, std::ostream& out);

}  // namespace kiln::generator
