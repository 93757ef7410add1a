// Conditions and linear indices, built with the canonical index arithmetic of compiler/ir/index_poly.h.
#pragma once

#include <span>

#include "compiler/ir/graph.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

Id index_less(Graph& g, Id a, Id b);        // bool
Id index_less_equal(Graph& g, Id a, Id b);  // bool

// `a and b`; no_id means true. Constants fold.
Id both(Graph& g, Id a, Id b);

// The row-major linear index of an element. There is one index and one extent for each axis.
Id row_major(Graph& g, std::span<const Id> index, std::span<const Id> extents);

}  // namespace kiln::compiler
