// Calls a compiled program so that mistakes show: guarded buffers, a workspace with old contents, several threads even for
// little work.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"
#include "kiln/kiln.h"
#include "tests/run/loaded_object.h"

namespace kiln::compiler::testing {

// Backwards: one thread, as many chunks as there can be, the last first, so that an iteration that needs another one shows.
enum class Execution { one_thread, three_threads, backwards };
inline constexpr const char* name(Execution e) {
  return e == Execution::one_thread ? "1" : e == Execution::three_threads ? "3" : "backwards";
}

class RunnableObject {
 public:
  RunnableObject(const std::string& object, const Program& p);

  // Runs on copies of the arguments. Text of the first difference to what was expected (as interpret() returns it), else "".
  // Parameters with strides of the caller's lie in another way in each call (tests/run/layouts.h).
  // But with one thread, the kernels run in another order that their dependencies allow, and equal inputs are one tensor.
  std::string compare(std::span<const Array> arguments, std::span<const Array> expected, Execution how) const;
  const kiln_program_desc& description() const { return *description_; }  // the object's own

 private:
  bool both_inputs(std::size_t a, std::size_t b) const {
    return program_.params[a].direction == Direction::in && program_.params[b].direction == Direction::in;
  }

  const Program& program_;
  LoadedObject object_;
  mutable std::uint64_t calls_ = 0;
  const kiln_program_desc* description_;
  std::vector<kiln_kernel_desc> in_order_, backwards_;  // as the object's, with much work, so that all threads take part
};

}  // namespace kiln::compiler::testing
