// The sorts of examples/sort, compared with std::stable_sort.
#include <gtest/gtest.h>
#include <kiln/pool.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "examples/sort/buffers.h"

namespace {

// Keys are equal if neither is less than the other. NaNs come last.
template <class K>
bool less(K a, K b) {
  return a < b || (b != b && a == a);
}

// Keys and their old places must be as std::stable_sort leaves them, bit for bit.
template <class K>
void check_radix(const std::vector<K>& keys, const kiln::context& with = {}) {
  std::vector<std::int32_t> places(keys.size()), expected;
  std::iota(places.begin(), places.end(), 0);
  expected = places;
  std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
    return less(keys[static_cast<std::size_t>(a)], keys[static_cast<std::size_t>(b)]);
  });
  std::vector<K> sorted = keys, alone = keys;
  radix_buffers<K> b(keys.size());
  radix_sort(sorted, places, b, with);
  ASSERT_EQ(places, expected) << keys.size();
  std::vector<K> wanted;
  for (const std::int32_t i : expected) wanted.push_back(keys[static_cast<std::size_t>(i)]);
  ASSERT_EQ(std::memcmp(sorted.data(), wanted.data(), keys.size() * sizeof(K)), 0) << keys.size();
  radix_sort(alone, b, with);
  ASSERT_EQ(std::memcmp(alone.data(), wanted.data(), keys.size() * sizeof(K)), 0) << keys.size();
}

template <class K>
std::vector<K> random_keys(std::size_t n, std::uint32_t different) {
  std::mt19937 random(5);
  std::vector<K> keys(n);
  for (K& k : keys) {
    const auto bits = static_cast<std::uint32_t>(random());
    if constexpr (std::is_same_v<K, float>)
      k = (static_cast<float>(bits % different) - static_cast<float>(different / 2)) * 0.37f;
    else
      k = static_cast<K>(different == 0 ? bits : bits % different);
  }
  return keys;
}

TEST(Sort, Radix) {
  for (const std::size_t n : {1u, 2u, 127u, 128u, 129u, 1000u, 1023u, 1024u, 1025u, 40000u}) {
    check_radix(random_keys<std::uint32_t>(n, 0));
    check_radix(random_keys<std::uint32_t>(n, 300));
    check_radix(random_keys<std::int32_t>(n, 0));
    check_radix(random_keys<float>(n, 1u << 20));
    check_radix(random_keys<float>(n, 7));
  }
}

TEST(Sort, RadixOfSpecialFloats) {
  const float inf = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max(),
              tiny = std::numeric_limits<float>::denorm_min(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {0.0f, -0.0f, inf,  -inf, 1,    -1, most, -most, tiny, -tiny,
                                      0.5f, -0.0f, 0.0f, inf,  -inf, 1,  nan,  -nan,  2};
  for (const std::size_t n : {19u, 129u, 3000u}) {
    std::vector<float> keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(special[(7 * i + i / 40) % special.size()]);
    check_radix(keys);
  }
}

TEST(Sort, Bitonic) {
  for (const std::size_t n : {1u, 2u, 3u, 127u, 128u, 129u, 1000u, 5000u}) {
    const std::vector<float> keys = random_keys<float>(n, 1u << 20);
    std::vector<float> sorted = keys, expected = keys;
    std::vector<std::int32_t> places(n);
    std::iota(places.begin(), places.end(), 0);
    check(sort_kernels::bitonic(1000, sorted, places));
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted, expected) << n;
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(sorted[i], keys[static_cast<std::size_t>(places[i])]);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(places[i], static_cast<std::int32_t>(i));
  }
}

// L (L + 1) / 2 steps suffice, where L = ceil(log2 n), and one step less does not.
TEST(Sort, StepsOfBitonic) {
  std::vector<float> keys;
  for (int i = 0; i < 1024; ++i) keys.push_back(static_cast<float>((i * 331) % 1024));
  std::vector<float> expected = keys, almost = keys;
  std::sort(expected.begin(), expected.end());
  std::vector<std::int32_t> places(keys.size());
  check(sort_kernels::bitonic(54, almost, places));
  EXPECT_NE(almost, expected);
  check(sort_kernels::bitonic(55, keys, places));
  EXPECT_EQ(keys, expected);
}

TEST(Sort, RadixOfAMillion) {
  kiln::pool pool(3);
  kiln::context with;
  with.executor(pool.executor());
  check_radix(random_keys<std::uint32_t>(1 << 20, 0));
  check_radix(random_keys<float>(1 << 20, 1u << 22), with);
}

}  // namespace
