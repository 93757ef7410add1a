// Intervals of index values. Endpoints saturate at +-2^62. A minimum of -2^62 and a maximum of +2^62 mean "unbounded".
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

constexpr std::int64_t saturated(__int128 v) {
  if (v > unbounded) return unbounded;
  if (v < -unbounded) return -unbounded;
  return static_cast<std::int64_t>(v);
}

constexpr Interval add(Interval a, Interval b) {
  return {a.min == -unbounded || b.min == -unbounded ? -unbounded : saturated(static_cast<__int128>(a.min) + b.min),
          a.max == unbounded || b.max == unbounded ? unbounded : saturated(static_cast<__int128>(a.max) + b.max)};
}

constexpr Interval sub(Interval a, Interval b) { return add(a, {-b.max, -b.min}); }

constexpr Interval mul(Interval a, Interval b) {
  constexpr std::int64_t narrow = std::int64_t{1} << 31;  // products of such values are within 2^62
  const auto small = [](Interval i) { return i.min > -narrow && i.max < narrow; };
  if (small(a) && small(b)) {
    const std::int64_t p = a.min * b.min, q = a.min * b.max, r = a.max * b.min, s = a.max * b.max;
    return {std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s))};
  }
  const __int128 p = static_cast<__int128>(a.min) * b.min, q = static_cast<__int128>(a.min) * b.max,
                 r = static_cast<__int128>(a.max) * b.min, s = static_cast<__int128>(a.max) * b.max;
  return {saturated(std::min(std::min(p, q), std::min(r, s))), saturated(std::max(std::max(p, q), std::max(r, s)))};
}

Interval div(Interval a, Interval b);  // floor_div
Interval mod(Interval a, Interval b);  // floor_mod
constexpr Interval unite(Interval a, Interval b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

}  // namespace kiln::compiler
