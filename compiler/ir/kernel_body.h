// The body of a KERNEL of the program: its nodes, and the tensors that it reads from outside.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

// By node id: whether the node belongs to the body of some KERNEL or FOR. `nodes` are ascending.
std::vector<bool> inside_regions(const Graph& g, std::span<const Id> nodes);

struct KernelBody {
  std::vector<Id> nodes;    // ascending; includes arithmetic on rank-0 values from outside, which is cheap enough to repeat
  std::vector<Id> outside;  // ascending; tensors that an INDEX reads, and rank-0 values that are not arithmetic
};
KernelBody kernel_body(const Graph& g, const std::vector<bool>& inside, Id kernel);

}  // namespace kiln::compiler
