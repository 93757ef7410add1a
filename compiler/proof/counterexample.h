// Points where a rule's guard holds and its sides differ.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compiler/proof/rule_text.h"

namespace kiln::compiler {

// The point with both values, as text; nullopt when the rule is right there.
std::optional<std::string> difference_at(const ParsedRule& rule, std::span<const std::int64_t> point);

// Looks at all points around 0 and at some 10^5 others, always the same.
std::optional<std::string> find_difference(const ParsedRule& rule);

}  // namespace kiln::compiler
