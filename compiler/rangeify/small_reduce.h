// Reductions of a few values, written out without a loop, in the order of operations that docs/reference/numbers.md defines.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Reduces the values of one axis. striped: the axis is the last one of its tensor, so the order is striped (op.h). Requires,
// if striped: at most reduce_block values.
Id small_reduce(Graph& g, ReduceKind kind, bool striped, DType result, std::span<const Id> values);
// The scan of the values of one axis, in the order of the scan. Requires: at most scan_block values.
std::vector<Id> small_scan(Graph& g, ReduceKind kind, bool exclusive, DType result, std::span<const Id> values);
// The sum of a[i] * b[i] for ascending i, by fused multiply-adds from 0.
Id small_fma(Graph& g, std::span<const Id> a, std::span<const Id> b);
// The same sum in striped order.
Id small_dot(Graph& g, std::span<const Id> a, std::span<const Id> b);

}  // namespace kiln::compiler
