// A rewrite rule of index algebra as text: where `guard` holds, `lhs` and `rhs` have the same value. The language is that of
// compiler/symbolic/infix.h. A variable stands for any integer, or for a condition where it is used as one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct RuleText {
  std::string name, lhs, guard, rhs;         // an empty guard always holds
  std::vector<std::string> conditions = {};  // variables that are conditions even if no text shows it
  std::vector<std::string> steps = {};       // of its proof: conditions that hold where the guard does
};

// The three texts as nodes of one graph. A condition variable p is the symbol p compared with 0.
struct ParsedRule {
  Graph g;
  Id lhs = no_id, guard = no_id, rhs = no_id;
  std::vector<Id> variables;            // symbols, in order of appearance in lhs, rhs, guard
  std::vector<std::string> conditions;  // the names of those that are
};

// Throws Diagnostic E-infix placed at the rule's name and field, or E-rulesfile when lhs and rhs are not of one kind or the
// guard is no condition.
ParsedRule parse_rule(const RuleText& text);

// What the guard is the conjunction of, in order; none for True.
std::vector<Id> conjuncts_of(const Graph& g, Id guard);

}  // namespace kiln::compiler
