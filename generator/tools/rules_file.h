// Rewrite rules in JSON: {"rules": [{"name": "...", "lhs": "...", "guard": "...", "rhs": "..."}, ...]}.
// docs/reference/rules-file.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/rule_text.h"

namespace kiln::generator {

// Throws Diagnostic E-rulesfile: not JSON, a field that is missing or unknown, a name twice.
std::vector<compiler::RuleText> read_rules(std::string_view text, const std::string& file);

}  // namespace kiln::generator
