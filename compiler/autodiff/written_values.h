// written_values: replaces reads of written memory by the written values.
//
// A derivative cannot have an adjoint for each element of the memory that a kernel writes. So its path goes through values:
// - a read, inside of a kernel, of an element that the same work item has written before: the last written value whose index is
//   equal, or else the element before.
// - in reverse mode, outside of kernels, the results of a kernel without loops: see kernel_writes.h.
//
// before: values[0] is reached through such reads and writes
// after:  no path from one of the other values to values[0] goes through one. An x that is one itself, behind another x, is a
//         mark of its value; an x behind which there is none stays.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The values behind the first one are the x of its derivatives. reverse: also through local arrays and kernels.
void with_written_values(Rules& rules, std::span<Id> values, bool reverse);
// x without such reads and writes. If x is one, a mark makes its value another one than the written value.
Id own_value(Rules& rules, Id x);

}  // namespace kiln::compiler::autodiff
