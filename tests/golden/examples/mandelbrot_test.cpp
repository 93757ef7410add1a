// Escape times of examples/mandelbrot, compared with the same loop in C++, and the area of the set.
#include <gtest/gtest.h>
#include <kiln/pool.h>
#include <mandelbrot_kernels/escape.h>

#include <algorithm>
#include <vector>

#include "examples/common/check.h"

namespace {

constexpr auto any = kiln::dynamic_extent;

std::vector<std::int32_t> escape_times(std::int64_t h, std::int64_t w, float dx, int limit, const kiln::context& with = {}) {
  std::vector<std::int32_t> iterations(static_cast<std::size_t>(h * w));
  check(
      mandelbrot_kernels::escape(-2.0f, -1.25f, dx, limit, kiln::view<std::int32_t, any, any>(iterations.data(), h, w), with));
  return iterations;
}

int by_hand(float cx, float cy, int limit) {
  float zx = 0, zy = 0;
  for (int k = 0; k < limit; ++k) {
    const float x2 = zx * zx, y2 = zy * zy;
    if (x2 + y2 > 4.0f) return k;
    zy = 2.0f * zx * zy + cy;
    zx = x2 - y2 + cx;
  }
  return limit;
}

TEST(Mandelbrot, EqualsLoop) {
  const std::int64_t h = 97, w = 131;
  const float dx = 2.5f / 100;
  const auto iterations = escape_times(h, w, dx, 256);
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x)
      ASSERT_EQ(iterations[static_cast<std::size_t>(y * w + x)],
                by_hand(-2.0f + dx * static_cast<float>(x), -1.25f + dx * static_cast<float>(y), 256))
          << y << " " << x;
}

TEST(Mandelbrot, ThreadsDoNotMatter) {
  kiln::pool pool(3);
  kiln::context with;
  with.executor(pool.executor());
  EXPECT_EQ(escape_times(200, 200, 0.0125f, 100, with), escape_times(200, 200, 0.0125f, 100));
}

// The set has the area 1.50659 (T. Förstemann, "Numerical estimation of the area of the Mandelbrot set", 2012). The points that
// have not escaped after 1000 iterations cover a little more.
TEST(Mandelbrot, Area) {
  const auto iterations = escape_times(400, 400, 2.5f / 400, 1000);
  const auto inside = static_cast<double>(std::count(iterations.begin(), iterations.end(), 1000));
  EXPECT_NEAR(inside * 2.5 * 2.5 / (400 * 400), 1.51, 0.01);
}

}  // namespace
