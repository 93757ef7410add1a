// The verdict on one rule: proven for all integers, refuted at a point, or unknown.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/rule_text.h"
#include "compiler/proof/solver.h"

namespace kiln::compiler {

enum class Verdict { proven, refuted, unknown };

struct RuleVerdict {
  Verdict verdict = Verdict::unknown;
  std::string detail;  // refuted: the point and both values, evaluated exactly. unknown: why
};

// The claims that together are the rule's proof: each step under the guard and the steps before it, then the rule under all of
// them. A rule without steps is one claim, itself.
std::vector<RuleText> claims_of(const RuleText& rule);

// Steps of the claim are not looked at.
RuleVerdict check_claim(const RuleText& claim, SolverLimits limits);

// What the verdict on a claim depends on: the question in SMT-LIB; empty when it has none.
std::string question_of(const RuleText& claim);

}  // namespace kiln::compiler
