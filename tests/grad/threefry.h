// Threefry2x32 with 20 rounds (Random123): the numbers of which the golden programs are made.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "tests/unit/dsl_eval.h"

namespace grad_test {

using Words = std::array<std::uint32_t, 2>;

inline Words threefry(Words key, Words counter) {
  constexpr int rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::uint32_t keys[] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  std::uint32_t a = counter[0] + keys[0], b = counter[1] + keys[1];
  for (std::uint32_t round = 0; round < 20; ++round) {
    a += b;
    b = b << rotations[round % 8] | b >> (32 - rotations[round % 8]);
    b ^= a;
    if (round % 4 != 3) continue;
    const std::uint32_t j = round / 4 + 1;
    a += keys[j % 3];
    b += keys[(j + 1) % 3] + j;
  }
  return {a, b};
}

inline double unit(std::uint32_t bits) { return static_cast<double>(bits >> 8) * 0x1p-24; }

// In [0, 1). Element i is word i % 2 of the block i / 2.
inline dsl_test::Tensor uniform(Words key, dsl_test::Shape shape) {
  dsl_test::Tensor t = dsl_test::make(std::move(shape));
  for (std::uint32_t i = 0; i < t.v.size(); ++i) t.v[i] = unit(threefry(key, {i / 2, 0})[i % 2]);
  return t;
}
// Box-Muller of the two words of block i.
inline dsl_test::Tensor normal(Words key, dsl_test::Shape shape) {
  dsl_test::Tensor t = dsl_test::make(std::move(shape));
  for (std::uint32_t i = 0; i < t.v.size(); ++i) {
    const Words w = threefry(key, {i, 0});
    t.v[i] = std::sqrt(-2 * std::log(1 - unit(w[0]))) * std::cos(2 * std::numbers::pi * unit(w[1]));
  }
  return t;
}
// In [-limit, limit).
inline dsl_test::Tensor around_zero(Words key, dsl_test::Shape shape, double limit = 1) {
  dsl_test::Tensor t = uniform(key, std::move(shape));
  for (double& v : t.v) v = (2 * v - 1) * limit;
  return t;
}

}  // namespace grad_test
