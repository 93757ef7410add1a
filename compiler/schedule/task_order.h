// What the dependencies of a schedule's kernels say about time: the only order that execution keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

// Which kernels have ended whenever a kernel begins, by its dependencies and theirs.
class TaskOrder {
 public:
  explicit TaskOrder(const Schedule& s);

  bool before(std::size_t earlier, std::size_t later) const {
    return (rows_[later * words_ + earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> rows_;
};

// Buffer -> kernels that touch it, ascending.
std::vector<std::vector<std::size_t>> buffer_users(const Schedule& s);

}  // namespace kiln::compiler
