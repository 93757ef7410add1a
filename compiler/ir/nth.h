// nth: indexes a sequence by any number.
//
// Buffers, slots, axes and args are signed numbers, because -1 means none. std::vector and std::array take unsigned ones.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>

namespace kiln::compiler {

// values[number]. Requires: 0 <= number < values.size().
template <class Values, class Number>
constexpr decltype(auto) nth(Values&& values, Number number) {
  const auto i = static_cast<std::size_t>(number);
  assert(i < std::size(values));
  return std::forward<Values>(values)[i];
}

}  // namespace kiln::compiler
