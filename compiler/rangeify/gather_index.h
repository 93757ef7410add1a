// The element that a GATHER reads: its integers, already values at one position of the result, as positions on the axes.
#pragma once

#include <span>
#include <vector>

#include "compiler/rangeify/index_map.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

struct GatherIndex {
  IndexMap at;       // of the tensor; the gate includes that of the result
  Id there = no_id;  // whether the tensor has elements at all; no_id: always
};

// extents: of the tensor. out: the position in the result, its last axes those that have no integer.
GatherIndex gather_index(Graph& g, Simplifier& simplify, std::span<const Id> extents, std::span<const Id> integers,
                         const IndexMap& out);

}  // namespace kiln::compiler
