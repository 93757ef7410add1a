// Copies a KERNEL. Where the KERNEL uses a tensor from outside, the copy loads from the storage of this tensor: a parameter,
// a STAGE or the result of a KERNEL.
#pragma once

#include <functional>
#include <span>

#include "compiler/ir/kernel_body.h"

namespace kiln::compiler {

// storage: gives the storage of a tensor from outside. init: the copy's states at entry.
Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage);

}  // namespace kiln::compiler
