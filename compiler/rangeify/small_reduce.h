// A reduction of a few values, written out in the order that docs/reference/numbers.md gives it.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Over one axis. `striped` as for a reduction of the last axis, of one block at most.
Id small_reduce(Graph& g, ReduceKind kind, bool striped, DType result, std::span<const Id> values);
// Sum of products, in order.
Id small_fma(Graph& g, std::span<const Id> a, std::span<const Id> b);

}  // namespace kiln::compiler
