// Recognises kernels that copy or store a whole buffer, and makes kernels that copy one.
#pragma once

#include <optional>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// Makes a kernel that copies the dense buffer `from` to `to`.
Kernel copy_kernel(Graph& g, const Schedule& s, int to, int from);

struct Copied {
  int to, from;
};
// The two buffers, if this END of the kernel copies a whole buffer to another one.
std::optional<Copied> copy_of(Graph& g, const Schedule& s, const Kernel& k, Id end);

// Whether the kernel stores every element of the buffer under no condition, and loads none of them.
bool stores_whole(Graph& g, const Schedule& s, const Kernel& k, int buffer);

}  // namespace kiln::compiler
