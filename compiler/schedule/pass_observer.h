// The interface of code that looks at the program between passes (--dump-after, the verifier in tests).
#pragma once

#include <string_view>

#include "compiler/ir/program.h"

namespace kiln::compiler {

struct PassObserver {
  virtual ~PassObserver() = default;
  // Until kernel_split has run, the state is s.program; from then on s.kernels and s.buffers.
  virtual void after(std::string_view pass, Graph& g, const Schedule& s) const = 0;
};

}  // namespace kiln::compiler
