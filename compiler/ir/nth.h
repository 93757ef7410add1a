// Conversions between the numbers of the IR and the sizes of containers.
//
// Buffers, slots, axes and args are signed numbers, because -1 means none. std::vector and std::array take unsigned ones.
#pragma once

#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>

namespace kiln::compiler {

// values[number]. Requires: 0 <= number < values.size().
template <class Values, class Number>
constexpr decltype(auto) nth(Values&& values, Number number) {
  const auto i = static_cast<std::size_t>(number);
  assert(i < std::size(values));
  return std::forward<Values>(values)[i];
}

// An integer in a smaller type. Requires: it fits.
template <class To, class From>
constexpr To narrow(From value) {
  assert(std::in_range<To>(value));
  return static_cast<To>(value);
}

// The number of values. This is also the index of the next value that is added.
template <class Values>
constexpr int count_of(const Values& values) {
  return narrow<int>(std::size(values));
}

// The index of the value at an iterator.
template <class Values, class Iterator>
constexpr std::size_t index_at(const Values& values, Iterator at) {
  return narrow<std::size_t>(at - std::begin(values));
}

}  // namespace kiln::compiler
