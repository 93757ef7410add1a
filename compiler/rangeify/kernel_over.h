// Copies a KERNEL. Where the KERNEL uses a tensor from outside of it, the copy loads from the tensor's storage. Each of these
// tensors is a parameter or gets a buffer.
#pragma once

#include <functional>
#include <span>

#include "compiler/ir/kernel_body.h"

namespace kiln::compiler {

// storage: gives the storage of a tensor from outside. init: the copy's states at entry.
Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage);

}  // namespace kiln::compiler
