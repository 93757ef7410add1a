// What is written whole, whatever it held before: such memory needs no contents when its writer begins.
//
// Positions are sums of ranges and constants. Each element of a tensor of `size` elements is among them when the ranges, and
// the constants of all writes as one more digit, are the digits of a number with mixed radix: the first has stride 1, each next
// one the stride and extent of the one before multiplied, and after the last one that is `size`.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Are these positions, for all values of the ranges together, the elements 0 .. size-1?
bool covers(Graph& g, std::span<const Id> ranges, std::span<const Id> positions, Id size);

// Does a KERNEL of a program of ranges write every element of state `slot`, of these extents, and read none that it has not
// written? reads: INDEX nodes by the tensor or state that they read.
bool writes_all(Graph& g, Id kernel, std::size_t slot, std::span<const Id> extents,
                const std::unordered_map<Id, std::vector<Id>>& reads);

}  // namespace kiln::compiler
