// A generator with the same numbers for every C++ library (splitmix64, Steele, Lea and Flood 2014).
#pragma once

#include <cstdint>

namespace kiln::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A number in a .. b. The bias of the modulo does not matter here.
  std::int64_t pick(std::int64_t a, std::int64_t b) {
    const std::uint64_t count = static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + (count == 0 ? next() : next() % count));
  }
  bool one_in(std::int64_t n) { return pick(1, n) == 1; }

 private:
  std::uint64_t state_;
};

}  // namespace kiln::test
