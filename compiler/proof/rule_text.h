// A rewrite rule of index algebra as text: if `guard` holds, `lhs` and `rhs` have the same value. The language is that of
// compiler/symbolic/infix.h. A variable is any integer, or a condition if some text uses it as a condition.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct RuleText {
  std::string name, lhs, guard, rhs;         // an empty guard means True
  std::vector<std::string> conditions = {};  // variables that are conditions although no text shows it
  std::vector<std::string> steps = {};       // steps of the proof: conditions that follow from the guard
};

// The three texts as nodes of one graph. A condition variable p is the symbol p compared with 0.
struct ParsedRule {
  Graph g;
  Id lhs = no_id, guard = no_id, rhs = no_id;
  std::vector<Id> variables;            // symbols, in order of appearance in lhs, rhs, guard
  std::vector<std::string> conditions;  // names of the condition variables
};

// Throws Diagnostic E-infix at the rule's name and field, or E-rulesfile if lhs and rhs are not of one kind or the guard is not
// a condition.
ParsedRule parse_rule(const RuleText& text);

// The conjuncts of the guard, in order. Empty: True.
std::vector<Id> conjuncts_of(const Graph& g, Id guard);

}  // namespace kiln::compiler
