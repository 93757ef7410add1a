// Computes the exact value of one operation on integers, bools or indices. Used by passes that evaluate code in
// every iteration of a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// x: the values of the sources; bools are 0 or 1, unsigned integers are zero-extended. nullopt: an operation of another kind,
// or an index that does not fit 64 bits.
std::optional<std::int64_t> integer_value(const Graph& g, Id id, std::span<const std::int64_t> x);

bool has_integer_value(const Graph& g, Id id);  // whether integer_value knows the operation

}  // namespace kiln::compiler
