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
  std::string cache;  // a folder for verdicts, by hash of the question; empty: none
};

// A step of its proof that is not proven leaves a rule unknown.
compiler::RuleVerdict check_rule(const compiler::RuleText& rule, const RulesOptions& options);

// One line for each rule, in order, then the sums. True when all are proven.
bool check_rules(std::span<const compiler::RuleText> rules, const RulesOptions& options, std::ostream& out);

// Kiln's own rules, one on a line.
void list_rules(std::ostream& out);

// Whether each of Kiln's own rules makes its node smaller (compiler/proof/measure.h) or says why rewriting ends: those that do
// the latter, then the sums. True when all do either.
bool weigh_rules(std::ostream& out);

// Every mutation of every guard of Kiln's own rules (compiler/proof/mutate.h): those that are equivalent or survive, then the
// sums. True when none survives.
bool mutate_rules(const RulesOptions& options, std::ostream& out);

}  // namespace kiln::generator
