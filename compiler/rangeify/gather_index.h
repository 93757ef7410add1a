// gather_index: computes the index of the element that a GATHER reads, on each axis of the gathered tensor.
//
// Each integer is clamped to its axis, since a GATHER reads the nearest element for an index outside of the tensor.
// Example: y[i, k] = gather x, rows reads x[min(max(rows[i], 0), N - 1), k], only if 0 < N.
#pragma once

#include <span>
#include <vector>

#include "compiler/rangeify/index_map.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

struct GatherIndex {
  IndexMap at;       // index map of the tensor; its gate includes the gate of the result
  Id there = no_id;  // bool: no gathered axis is empty; no_id: always true
};

// extents: of the tensor, whose first axes are the gathered ones. integers: scalar values, one for each gathered axis. out:
// index map of the result, whose last axes are the tensor's other axes.
GatherIndex gather_index(Graph& g, Simplifier& simplify, std::span<const Id> extents, std::span<const Id> integers,
                         const IndexMap& out);

}  // namespace kiln::compiler
