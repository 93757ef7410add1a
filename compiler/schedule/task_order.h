// What the dependencies of a schedule's kernels say about time: the only order that execution keeps. Where there are loops
// around kernels, these run one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

// Which kernels have ended whenever a kernel begins, by its dependencies and theirs.
class TaskOrder {
 public:
  explicit TaskOrder(const Schedule& s);

  bool before(std::size_t earlier, std::size_t later) const {
    if (in_order_) return earlier < later;
    return (rows_[later * words_ + earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  bool in_order_;
  std::size_t words_;
  std::vector<std::uint64_t> rows_;
};

// Buffers of the integers that a kernel, or a loop in its bounds, asks for.
std::vector<int> numbers_in(const Graph& g, const Schedule& s, std::span<const Id> expressions);

// Buffer -> kernels that touch it, ascending. Where there are loops, the first and the last that run while it is in use: what
// is used around a loop lives for all turns.
std::vector<std::vector<std::size_t>> buffer_users(const Graph& g, const Schedule& s);

}  // namespace kiln::compiler
