// Copies a KERNEL so that it loads the tensors from outside from storage. Each of these tensors is a
// parameter or gets a buffer.
#pragma once

#include <functional>
#include <span>

#include "compiler/ir/kernel_body.h"

namespace kiln::compiler {

// The copy loads elements of storage(tensor) for each tensor from outside. `init` are its states at entry.
Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage);

}  // namespace kiln::compiler
