// example_of: searches for two work items that touch the same element, for the message of E-race. The search tries small
// values only, so an empty result proves nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/races/dependence_test.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

using ProblemValues = std::unordered_map<Id, std::int64_t>;  // by SYM, by RANGE, and by index of an axis

// The first values found that satisfy the problem and is_real().
std::optional<ProblemValues> example_of(const Graph& g, const Facts& facts, const DependenceProblem& m,
                                        const std::function<bool(const ProblemValues&)>& is_real);

}  // namespace kiln::compiler
