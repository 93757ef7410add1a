// Kernels that copy whole buffers, and what else is stored whole.
#pragma once

#include <optional>

#include "compiler/ir/program.h"

namespace kiln::compiler {

// A kernel that copies buffer `from`, which is dense, to `to`.
Kernel copy_kernel(Graph& g, const Schedule& s, int to, int from);

struct Copied {
  int to, from;
};
// The copy of a whole buffer to another one that an END of a kernel is.
std::optional<Copied> copy_of(Graph& g, const Schedule& s, const Kernel& k, Id end);

// Does the kernel store every element of the buffer, whatever it held before, and load none?
bool stores_whole(Graph& g, const Schedule& s, const Kernel& k, int buffer);

}  // namespace kiln::compiler
