// `kiln-opt rules check`: proves or refutes rewrite rules with Z3.
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

compiler::RuleVerdict check_rule(const compiler::RuleText& rule, const RulesOptions& options);

// One line for each rule, in order, then the sums. True when all are proven.
bool check_rules(std::span<const compiler::RuleText> rules, const RulesOptions& options, std::ostream& out);

}  // namespace kiln::generator
