// array_contents: follows the elements of arrays through straight code.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

// The number of elements of a LOCAL with constant extents.
std::int64_t elements_of(const Graph& g, Id local);

// The sink in which each LOAD of the arrays is a value that was stored, or lanes of several such values. nullopt: an access has
// an index or a gate that is not constant, the arrays' states go through a loop, or a LOAD needs too many vectors.
std::optional<Id> with_contents(Graph& g, Id sink, const std::set<Id>& arrays);

}  // namespace kiln::compiler
