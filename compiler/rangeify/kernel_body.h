// The body of a KERNEL that the program wrote: which nodes it has, which tensors outside it reads, and how it looks over
// storage. Elements of tensors from outside are loaded: each such tensor is a parameter or gets a buffer.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

// By node id, for ascending `nodes`: whether the node belongs to the body of some KERNEL or FOR.
std::vector<bool> inside_regions(const Graph& g, std::span<const Id> nodes);

struct KernelBody {
  std::vector<Id> nodes;    // ascending; with the arithmetic on rank-0 values from outside, which is cheap enough to repeat
  std::vector<Id> outside;  // ascending: tensors read by INDEX, and rank-0 values that are not arithmetic
};
KernelBody kernel_body(const Graph& g, const std::vector<bool>& inside, Id kernel);

// The KERNEL over storage: INDEX of storage(tensor) in place of what it reads, and these tensors as its states at entry.
Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage);

}  // namespace kiln::compiler
