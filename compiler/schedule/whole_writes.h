// Whether a kernel overwrites a whole tensor, so that the tensor's memory needs no initial contents.
//
// A linear index is a sum of strides times ranges, and a constant. The indices of all writes cover a tensor of `size`
// elements if the ranges, and the constants as further factors, are the digits of a mixed-radix number: the first stride is
// 1, each further stride is the previous stride times the previous extent, and the last product is `size`. The constants are
// sums of digits too: 0, 1, w, w + 1 are the factors (stride 1, extent 2), (w, 2). A range whose
// stride is negative counts down from its last value. The writes in a loop of a kernel cover the tensor if the loop has no
// condition, and its range, from 0 to its end, is one of the factors. A condition of a write that says only that the tensor has
// elements counts as none. Example: y(i, 0) = a; y(i, 1) = b over i < N: indices
// 2*i and 2*i + 1, factors (stride 1, extent 2), (2, N), size 2*N.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether these linear indices, over all values of the ranges, are exactly the elements 0 .. size-1.
bool covers(Graph& g, std::span<const Id> ranges, std::span<const Id> indices, Id size);

// Whether a KERNEL of a program of ranges writes every element of state `slot`, and each work item reads only elements that it
// has written. extents: of the state. reads: INDEX nodes by the tensor or state that they read.
bool writes_all(Graph& g, Id kernel, std::size_t slot, std::span<const Id> extents,
                const std::unordered_map<Id, std::vector<Id>>& reads);

}  // namespace kiln::compiler
