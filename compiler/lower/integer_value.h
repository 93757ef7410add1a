// The value of one operation on integers, truth values and indices, to the bit; for passes that look at every position of a
// loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// x: the sources' values, bool as 0 and 1, unsigned integers zero-extended. nullopt: not such an operation, or an index that
// does not fit.
std::optional<std::int64_t> integer_value(const Graph& g, Id id, std::span<const std::int64_t> x);

bool has_integer_value(const Graph& g, Id id);  // an operation for integer_value

}  // namespace kiln::compiler
