// Conditions and positions built on the canonical index arithmetic of compiler/ir/index_poly.h.
#pragma once

#include <span>

#include "compiler/ir/graph.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

Id index_less(Graph& g, Id a, Id b);        // bool
Id index_less_equal(Graph& g, Id a, Id b);  // bool

// Conjunction of conditions where no_id means "always"; constants fold.
Id both(Graph& g, Id a, Id b);

// Row-major position of an element in a tensor of these extents (sizes agree).
Id row_major(Graph& g, std::span<const Id> index, std::span<const Id> extents);

}  // namespace kiln::compiler
