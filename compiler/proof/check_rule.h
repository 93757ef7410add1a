// Decides about one rule: proven for all integers, refuted at a point, or unknown.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/rule_text.h"
#include "compiler/proof/solver.h"

namespace kiln::compiler {

enum class Verdict { proven, refuted, unknown };

struct RuleVerdict {
  Verdict verdict = Verdict::unknown;
  std::string detail;  // refuted: the point and both exact values. unknown: the reason
};

// The claims that together prove the rule: each step, under the guard and the steps before it, then the rule itself, under the
// guard and all steps. A rule without steps is one claim.
std::vector<RuleText> claims_of(const RuleText& rule);

// Ignores the steps of the claim.
RuleVerdict check_claim(const RuleText& claim, SolverLimits limits);

// The question in SMT-LIB that determines the verdict; empty if the claim cannot be written as one.
std::string question_of(const RuleText& claim);

}  // namespace kiln::compiler
