// Tests that every part of a rule's guard is necessary and exact. Each conjunct is dropped and negated; comparisons are also
// turned around and moved by one. The tests must catch each of these mutants: the rule becomes wrong; the guard fails at a
// point where it must hold, or holds at a point where it must not (rule_notes.h); the guard is equivalent to the original.
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

// Checks the points in a rule's notes: the guard must hold where the rule must fire, and fail where it must rest. Empty:
// correct.
std::string check_points(const RuleText& rule);

}  // namespace kiln::compiler
