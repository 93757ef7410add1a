// Counts of examples/buddhabrot, compared with the same loops in C++: integers, equal for any order and threads.
#include <buddhabrot_kernels/paths.h>
#include <gtest/gtest.h>
#include <kiln/pool.h>

#include <cmath>
#include <vector>

#include "examples/common/check.h"

namespace {

constexpr std::int64_t n = 40;
constexpr int limit = 300;
constexpr auto any = kiln::dynamic_extent;

std::uint32_t pcg(std::uint32_t v) {
  const std::uint32_t s = v * 747796405u + 2891336453u, w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
  return (w >> 22) ^ w;
}

struct path {
  float cx, cy, zx = 0, zy = 0;
  bool escaped() const { return zx * zx + zy * zy > 32.0f; }
  void next() {
    const float x = zx * zx - zy * zy + cx;
    zy = 2.0f * zx * zy + cy;
    zx = x;
  }
};

void count(std::vector<std::int32_t>& counts, path p, int time) {
  const std::int64_t channel = time < 60 ? 2 : time < 200 ? 1 : 0;
  const float scale = 0.25f * static_cast<float>(n);
  p.zx = p.zy = 0;
  for (int k = 0; k < time; ++k) {
    p.next();
    const auto x = static_cast<std::int64_t>(std::floor((p.zx + 2.0f) * scale));
    const auto y = static_cast<std::int64_t>(std::floor((p.zy + 2.0f) * scale));
    if (x < 0 || x >= n || y < 0 || y >= n) continue;
    ++counts[static_cast<std::size_t>((x * n + y) * 3 + channel)];
    ++counts[static_cast<std::size_t>((x * n + n - 1 - y) * 3 + channel)];
  }
}

std::vector<std::int32_t> by_hand(std::uint32_t frame) {
  std::vector<std::int32_t> counts(n * n * 3);
  for (std::uint32_t pixel = 0; pixel < n * n; ++pixel) {
    std::uint32_t seed = pcg(pixel + frame * static_cast<std::uint32_t>(n * n));
    for (int start = 0; start < 8; ++start) {
      path p{};
      for (float* c : {&p.cx, &p.cy}) {
        seed = pcg(seed);
        *c = 4.0f * (static_cast<float>(seed) / 4294967296.0f) - 2.0f;
      }
      int time = 0;
      for (int k = 0; k < limit && !p.escaped(); ++k) {
        p.next();
        time = k;
      }
      if (p.escaped()) count(counts, p, time);
    }
  }
  return counts;
}

std::vector<std::int32_t> compiled(std::uint32_t frame, const kiln::context& with, int iterations = limit) {
  std::vector<std::int32_t> counts(n * n * 3);
  check(buddhabrot_kernels::paths(frame, iterations, kiln::view<std::int32_t, any, any, 3>(counts.data(), n, n), with));
  return counts;
}

TEST(Buddhabrot, EqualsLoops) {
  kiln::pool pool(3);
  kiln::context threads;
  threads.executor(pool.executor());
  for (const std::uint32_t frame : {0u, 3u}) {
    const auto counts = by_hand(frame);
    EXPECT_EQ(compiled(frame, {}), counts);
    EXPECT_EQ(compiled(frame, threads), counts);
  }
}

// The set is symmetric to its axis, so rows above and below are equal.
TEST(Buddhabrot, MirrorRows) {
  const auto counts = compiled(1, {});
  for (std::int64_t x = 0; x < n; ++x)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t c = 0; c < 3; ++c)
        ASSERT_EQ(counts[static_cast<std::size_t>((x * n + y) * 3 + c)],
                  counts[static_cast<std::size_t>((x * n + n - 1 - y) * 3 + c)]);
}

// Channel 2 has the paths that escape within 60 iterations, channel 1 the paths within 200, channel 0 the others. With a lower
// limit, longer paths are absent and shorter paths unchanged.
TEST(Buddhabrot, ClassesOfEscapeTimes) {
  const auto channel = [](const std::vector<std::int32_t>& counts, std::size_t c) {
    std::vector<std::int32_t> v;
    for (std::size_t i = c; i < counts.size(); i += 3) v.push_back(counts[i]);
    return v;
  };
  const std::vector<std::int32_t> none(n * n);
  const auto all = compiled(1, {}, 3000), until_200 = compiled(1, {}, 200), until_60 = compiled(1, {}, 60);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NE(channel(all, c), none);
  EXPECT_EQ(channel(until_200, 0), none);
  EXPECT_EQ(channel(until_200, 1), channel(all, 1));
  EXPECT_EQ(channel(until_200, 2), channel(all, 2));
  EXPECT_EQ(channel(until_60, 0), none);
  EXPECT_EQ(channel(until_60, 1), none);
  EXPECT_EQ(channel(until_60, 2), channel(all, 2));
}

}  // namespace
