// Powers of two near a number n >= 1.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

namespace kiln::compiler {

template <std::signed_integral T>
constexpr T floor_power_of_two(T n) {  // the greatest one that is <= n
  return static_cast<T>(std::bit_floor(static_cast<std::make_unsigned_t<T>>(n)));
}
template <std::signed_integral T>
constexpr T ceil_power_of_two(T n) {  // the least one that is >= n
  return static_cast<T>(std::bit_ceil(static_cast<std::make_unsigned_t<T>>(n)));
}

}  // namespace kiln::compiler
