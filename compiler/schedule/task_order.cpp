#include "compiler/schedule/task_order.h"

namespace kiln::compiler {

TaskOrder::TaskOrder(const Schedule& s) : words_((s.kernels.size() + 63) / 64), rows_(words_ * s.kernels.size()) {
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (const int d : s.kernels[k].depends_on) {
      const auto j = static_cast<std::size_t>(d);
      rows_[k * words_ + j / 64] |= std::uint64_t{1} << (j % 64);
      for (std::size_t w = 0; w < words_; ++w) rows_[k * words_ + w] |= rows_[j * words_ + w];
    }
}

std::vector<std::vector<std::size_t>> buffer_users(const Schedule& s) {
  std::vector<std::vector<std::size_t>> users(s.buffers.size());
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (const int b : s.kernels[k].buffers) {
      auto& of = users[static_cast<std::size_t>(b)];
      if (of.empty() || of.back() != k) of.push_back(k);
    }
  return users;
}

}  // namespace kiln::compiler
