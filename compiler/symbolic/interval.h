// Intervals of index values. Endpoints saturate at +-2^62, where a minimum of -2^62 and a maximum of +2^62 mean "unbounded".
#pragma once

#include <algorithm>
#include <cstdint>

namespace kiln::compiler {

struct Interval {
  std::int64_t min, max;
  bool single() const { return min == max && min > -(std::int64_t{1} << 62) && max < (std::int64_t{1} << 62); }
  bool operator==(const Interval&) const = default;
};

inline constexpr std::int64_t unbounded = std::int64_t{1} << 62;
inline constexpr Interval anything{-unbounded, unbounded};

namespace symbolic {

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {  // by 0 gives 0
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {  // by 0 gives 0
  if (b == 0 || b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Interval add(Interval a, Interval b);
Interval sub(Interval a, Interval b);
Interval mul(Interval a, Interval b);
Interval div(Interval a, Interval b);  // floor_div
Interval mod(Interval a, Interval b);  // floor_mod
constexpr Interval unite(Interval a, Interval b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

}  // namespace symbolic
}  // namespace kiln::compiler
