// Whether every part of a rule's guard is needed and pinned down: each conjunct dropped, negated, turned around and moved by
// one either way must be caught. Caught is: the rule is then wrong; a point where it must fire is lost, or one where it must
// rest is gained (rule_notes.h); or the guard means the same as before.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/rule_text.h"
#include "compiler/proof/solver.h"

namespace kiln::compiler {

enum class Fate { refuted, not_firing, not_resting, equivalent, survived };

struct Mutant {
  std::string guard;
  Fate fate = Fate::survived;
  std::string detail = {};
};

std::vector<std::string> mutated_guards(const RuleText& rule);
Mutant judge_mutant(const RuleText& rule, const std::string& guard, SolverLimits limits);

// What is wrong with a rule's points: one where it must fire but the guard does not hold, or the reverse. Empty: nothing.
std::string check_points(const RuleText& rule);

}  // namespace kiln::compiler
