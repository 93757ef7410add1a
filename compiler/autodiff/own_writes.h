// Reads of elements that the same work item has written before, as the written values.
//
// A derivative inside of a kernel cannot have an adjoint for each element of the tensors that the kernel writes. But the value
// at an index is the last written one whose index is equal, or else the element before. So the path of a derivative goes
// through values, not through memory.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// Values without reads of UPDATEs of a kernel around the first one, or, with `arrays`, of a local array around it. The other
// values are each an x of a derivative of the first one; such a read that is an x itself stays.
void with_own_writes(Rules& rules, std::span<Id> values, bool arrays);
// x without such reads. If x is one, a mark makes its value another one than the written value.
Id own_value(Rules& rules, Id x);

}  // namespace kiln::compiler::autodiff
