// The body of a KERNEL of the program: its nodes, the tensors that it reads from outside, and a copy of it that loads these
// tensors from storage. Each such tensor is a parameter or gets a buffer.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
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

// A copy of the KERNEL that loads elements of storage(tensor) for each tensor from outside. `init` are its states at entry.
Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage);

}  // namespace kiln::compiler
