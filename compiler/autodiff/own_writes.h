// Reads of elements that the same work item has written before, as the written values.
//
// A derivative inside of a kernel cannot have an adjoint for each element of the tensors that the kernel writes. But the value
// at an index is the last written one whose index is equal, or else the element before. So the path of a derivative goes
// through values, not through memory.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// y without reads of UPDATEs of a kernel around y, or, with `arrays`, of a local array around y. Reads that are an x stay.
Id with_own_writes(Rules& rules, Id y, std::span<const Id> xs, bool arrays);

}  // namespace kiln::compiler::autodiff
