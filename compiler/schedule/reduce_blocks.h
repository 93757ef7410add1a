// Parts of a REDUCE over one range (docs/reference/numbers.md) that a kernel of their own computes: its blocks and stripes
// (split_reduce, split_stripes).
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The number of blocks of a reduction over `elements` elements.
Id number_of_blocks(Graph& g, Id elements);

struct ReduceBlock {
  Id first, elements;  // the position of its first element, and the number of its elements
};
ReduceBlock reduce_block_at(Graph& g, Id elements, Id number);

// The values of the REDUCE at a position of its range, in the type in which they are accumulated.
std::vector<Id> values_at(Graph& g, Id reduce, Id position);

// The REDUCE as a striped REDUCE, over the range `block`, of the results of its blocks. result: the value of one block.
Id reduce_of_blocks(Graph& g, Id reduce, Id result, Id block);

// Converts a value from the accumulation type to the type of the REDUCE.
Id as_result(Graph& g, Id reduce, Id value);

}  // namespace kiln::compiler
