// Calls a compiled program so that mistakes show: guarded buffers, a workspace with old contents, several threads even for
// little work.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"
#include "kiln/kiln.h"
#include "tests/fuzz/loaded_object.h"

namespace kiln::compiler::testing {

class RunnableObject {
 public:
  RunnableObject(const std::string& object, const Program& p);

  // Runs on copies of the arguments. Text of the first difference to what was expected (as interpret() returns it), else "".
  std::string compare(std::span<const Array> arguments, std::span<const Array> expected, int workers) const;

 private:
  const Program& program_;
  LoadedObject object_;
  std::vector<kiln_kernel_desc> kernels_;  // as the object's, with much work, so that all threads take part
  kiln_program_desc description_;
};

}  // namespace kiln::compiler::testing
