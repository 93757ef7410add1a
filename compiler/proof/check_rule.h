// The verdict on one rule: proven for all integers, refuted at a point, or unknown.
#pragma once

#include <string>

#include "compiler/proof/rule_text.h"
#include "compiler/proof/solver.h"

namespace kiln::compiler {

enum class Verdict { proven, refuted, unknown };

struct RuleVerdict {
  Verdict verdict = Verdict::unknown;
  std::string detail;  // refuted: the point and both values, evaluated exactly. unknown: why
};

RuleVerdict check_rule(const RuleText& text, SolverLimits limits);

}  // namespace kiln::compiler
