// The order in time of a schedule's kernels, and the lifetimes of buffers. Without host loops, execution keeps only the order
// of depends_on. With host loops, kernels run one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// The transitive closure of depends_on. With host loops: the order of the list.
class TaskOrder {
 public:
  explicit TaskOrder(const Schedule& s);

  // Whether kernel `earlier` has always ended when kernel `later` begins.
  bool before(std::size_t earlier, std::size_t later) const {
    if (in_order_) return earlier < later;
    return (rows_[later * words_ + earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  bool in_order_;  // kernels run one after the other
  std::size_t words_;
  std::vector<std::uint64_t> rows_;  // by kernel, words_ each: bit j says that kernel j is before it
};

// The buffers of the `element` symbols (integers from data) in these expressions, ascending.
std::vector<int> numbers_in(const Graph& g, const Schedule& s, std::span<const Id> expressions);

// By buffer: the kernels that use it, ascending. With host loops: the first and the last kernel of its lifetime. A buffer that
// is used inside and outside of a loop is live during all iterations.
std::vector<std::vector<std::size_t>> buffer_users(const Graph& g, const Schedule& s);

}  // namespace kiln::compiler
