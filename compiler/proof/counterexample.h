// Searches for points at which a rule's guard holds and its sides differ.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compiler/proof/rule_text.h"

namespace kiln::compiler {

// The point with both values, as text; nullopt: the sides are equal there, or the guard does not hold.
std::optional<std::string> difference_at(const ParsedRule& rule, std::span<const std::int64_t> point);

// Tries all points near 0 and 10^5 random points. The points are the same in every run.
std::optional<std::string> find_difference(const ParsedRule& rule);

}  // namespace kiln::compiler
