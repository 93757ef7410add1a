// Reads rewrite rules in JSON: {"rules": [{"name": "...", "lhs": "...", "guard": "...", "rhs": "..."}, ...]}.
// docs/reference/rules-file.md describes the fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/rule_text.h"

namespace kiln::generator {

// Throws Diagnostic E-rulesfile for text that is not JSON, a missing or unknown field, and a name that occurs twice.
std::vector<compiler::RuleText> read_rules(std::string_view text, const std::string& file);

}  // namespace kiln::generator
