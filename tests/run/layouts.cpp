#include "tests/run/layouts.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler/ir/layout.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::byte untouched{0x5c};
constexpr std::size_t margin = 64;  // bytes before and behind the elements

class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::int64_t below(std::int64_t n) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<std::int64_t>((state_ >> 20) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Program strided(Program p) {
  for (std::size_t i = 0; i < p.params.size(); ++i) {
    const int rank = static_cast<int>(p.params[i].extents.size());
    p.params[i].free_strides = rank < 2 || i % 3 == 2 ? rank : i % 3 == 0 ? rank - 1 : 1;
  }
  declare_strides(p);
  return p;
}

LaidOut::LaidOut(const Parameter& p, const Array& dense, std::uint64_t seed)
    : element_(static_cast<std::size_t>(bytes(dense.dtype))), strides_(dense.extents.size()) {
  Numbers random(seed);
  const std::size_t rank = strides_.size(), n_free = static_cast<std::size_t>(p.free_strides);
  std::int64_t reach = 1, first = 0;  // of the axes so far: elements from the lowest on; where element 0 is
  for (std::size_t axis = rank; axis-- > n_free;) {
    strides_[axis] = reach;
    reach *= std::max<std::int64_t>(dense.extents[axis], 1);
  }
  std::vector<std::size_t> order(n_free);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});  // innermost first
  if (random.below(3) == 0)
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  for (const std::size_t axis : order) {
    const std::int64_t step = reach + random.below(4), iterations = std::max<std::int64_t>(dense.extents[axis], 1) - 1;
    const bool backwards = random.below(4) == 0;
    strides_[axis] = backwards ? -step : step;
    if (backwards) first += step * iterations;
    reach += step * iterations;
  }
  first_ = margin + static_cast<std::size_t>(first) * element_;
  memory_.assign(2 * margin + static_cast<std::size_t>(reach) * element_, untouched);
  const std::byte* from = dense.data.data();
  if (!dense.data.empty())
    each_element(dense, [&](std::size_t to, std::size_t at) { std::memcpy(memory_.data() + to, from + at, element_); });
}

template <class F>
void LaidOut::each_element(const Array& dense, F f) const {
  std::vector<std::int64_t> index(strides_.size(), 0);
  for (std::size_t i = 0; i < dense.elements(); ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * strides_[axis];
    f(first_ + static_cast<std::size_t>(at * static_cast<std::int64_t>(element_)), i * element_);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < dense.extents[axis]) break;
      index[axis] = 0;
    }
  }
}

bool LaidOut::take_back(Array& dense) const {
  std::vector<std::byte> rest = memory_;
  dense.data.resize(dense.elements() * element_);
  each_element(dense, [&](std::size_t from, std::size_t at) {
    std::memcpy(dense.data.data() + at, memory_.data() + from, element_);
    std::fill_n(rest.begin() + static_cast<std::ptrdiff_t>(from), element_, untouched);
  });
  return std::ranges::all_of(rest, [](std::byte b) { return b == untouched; });
}

}  // namespace kiln::compiler::testing
