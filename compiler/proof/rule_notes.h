// Notes on rules beyond their three texts: steps of the proof, and points that determine the guard.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/rule_text.h"

namespace kiln::compiler {

struct RuleNotes {
  std::string_view rule;
  std::string_view steps = {};  // separated by ';', each proven under the guard and the steps before it
  // Points at which the guard must hold, so that a stricter guard fails, separated by ';': "x=3 n=4".
  std::string_view fires = {};
  // Points at which the guard must not hold although the rule is right there, because it would not simplify or not end.
  std::string_view rests = {};
  std::string_view constants = {};  // separated by spaces: variables that Rule::find binds to integers
  // The reason why rewriting ends although rhs may not weigh less (measure.h).
  std::string_view ends = {};
};

// Empty notes for a rule that needs none.
RuleNotes notes_of(std::string_view rule);
std::span<const RuleNotes> all_notes();

// The parts of a list, without surrounding spaces.
std::vector<std::string> parts_of(std::string_view list, char separator = ';');

// "x=3 n=4" as the values of the rule's variables. Throws std::invalid_argument if a variable has no value.
std::vector<std::int64_t> point_of(const ParsedRule& rule, std::string_view text);

// The rules of simplify() and of lowering with their proofs.
std::vector<RuleText> own_rules();

}  // namespace kiln::compiler
