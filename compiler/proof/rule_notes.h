// What a rule's three texts do not say: steps of its proof, and points that pin its guard down.
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
  // Points, separated by ';': "x=3 n=4". Where the guard must hold, so that no stricter one can take its place ...
  std::string_view fires = {};
  // ... and where it must not, though the rule would be right: it would not make anything simpler, or not end.
  std::string_view rests = {};
  std::string_view constants = {};  // separated by spaces: variables that find() binds to integers
  // Why rewriting ends although rhs need not weigh less (measure.h).
  std::string_view ends = {};
};

// Empty notes for a rule that needs none.
RuleNotes notes_of(std::string_view rule);
std::span<const RuleNotes> all_notes();

// The parts of a list of the above form, without surrounding spaces.
std::vector<std::string> parts_of(std::string_view list, char separator = ';');

// "x=3 n=4" as the values of the rule's variables. Throws std::invalid_argument when one has none.
std::vector<std::int64_t> point_of(const ParsedRule& rule, std::string_view text);

// The rules of simplify() and of lowering with their proofs.
std::vector<RuleText> own_rules();

}  // namespace kiln::compiler
