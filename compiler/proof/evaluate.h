// Exact values of index expressions at a point: the check on a solver's counterexample.
#pragma once

#include <map>
#include <optional>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

using Point = std::map<Id, std::int64_t>;  // values of the symbols

// Conditions give 0 or 1. nullopt: a value needs more than 127 bits, or the node is not of the language.
std::optional<__int128> evaluate_exactly(const Graph& g, Id root, const Point& point);

}  // namespace kiln::compiler
