// Calls a compiled program in ways that reveal mistakes: guarded buffers, a workspace of signaling NaNs, several threads even
// for little work.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"
#include "kiln/kiln.h"
#include "tests/run/loaded_object.h"

namespace kiln::compiler::testing {

// backwards: one thread, the largest number of chunks, the last one first. This shows if an iteration needs another one.
enum class Execution { one_thread, two_threads, three_threads, backwards };
inline constexpr Execution executions[] = {Execution::one_thread, Execution::two_threads, Execution::three_threads,
                                           Execution::backwards};
inline constexpr const char* name(Execution e) {
  constexpr const char* names[] = {"1", "2", "3", "backwards"};
  return names[static_cast<int>(e)];
}

class RunnableObject {
 public:
  RunnableObject(const std::string& object, const Program& p);

  // Runs on copies of the arguments. Returns "" or the first difference to the expected arrays, which are in the form of
  // interpret(). Parameters with strides of the caller have another layout in each call (tests/run/layouts.h). Except with one
  // thread, kernels run in another order that their dependencies allow, and equal inputs are one tensor.
  std::string compare(std::span<const Array> arguments, std::span<const Array> expected, Execution how) const;
  const kiln_program_desc& description() const { return *description_; }  // of the object

 private:
  bool both_inputs(std::size_t a, std::size_t b) const {
    return program_.params[a].direction == Direction::in && program_.params[b].direction == Direction::in;
  }

  const Program& program_;
  LoadedObject object_;
  mutable std::uint64_t calls_ = 0;
  const kiln_program_desc* description_;
  std::vector<kiln_kernel_desc> in_order_, backwards_;  // with large `work`, so that all threads take part
};

}  // namespace kiln::compiler::testing
