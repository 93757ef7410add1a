// The fluid of examples/fluid, compared with numbers from an independent program in f64.
#include <fluid_kernels/colours.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "examples/fluid/state.h"

namespace {

double sum_of_squares(const std::vector<float>& v) {
  double s = 0;
  for (const float x : v) s += static_cast<double>(x) * static_cast<double>(x);
  return s;
}
double rms(const std::vector<float>& v) { return std::sqrt(sum_of_squares(v) / static_cast<double>(v.size())); }
double sum(const std::vector<float>& v) {
  double s = 0;
  for (const float x : v) s += static_cast<double>(x);
  return s;
}

// The clamps are not smooth, so differences grow with the steps.
TEST(Fluid, Golden) {
  fluid f(256, 512, 1.0f);
  const struct {
    int step;
    double energy, density;
  } golden[] = {{1, 290.1698, 156.9226}, {2, 702.9521, 321.3439}, {5, 4211.04, 822.73}, {10, 15403.65, 1768.54}};
  int done = 0;
  for (const auto& g : golden) {
    for (; done < g.step; ++done) f.step({256, 128, 0.5f, 2, 1}, 0.02f, 0.999f, {});
    const double tolerance = done == 10 ? 5e-3 : 1e-3;
    EXPECT_NEAR((sum_of_squares(f.vx) + sum_of_squares(f.vy)) / 2 / g.energy, 1, tolerance) << done;
    EXPECT_NEAR(sum(f.density) / g.density, 1, tolerance) << done;
    if (done > 1) continue;
    EXPECT_NEAR(rms(f.divergence), 7.0941e-3, 5e-8);
    EXPECT_NEAR(rms(f.residual), 4.0789e-3, 5e-8);
    EXPECT_NEAR(static_cast<double>(f.vx[128 * 512 + 256]), 0.097719, 5e-7);
  }
}

double divergence_left(float projection, int cycles) {
  fluid f(256, 512, projection, cycles);
  f.step({256, 128, 0.5f, 2, 0}, 0, 1, {});
  EXPECT_NEAR(rms(f.divergence), 7.101e-3, 5e-7);
  const auto at = [&](const std::vector<float>& v, std::int64_t i, std::int64_t j) {
    return v[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, f.n - 1) * f.m + std::clamp<std::int64_t>(j, 0, f.m - 1))];
  };
  std::vector<float> left;
  for (std::int64_t i = 0; i < f.n; ++i)
    for (std::int64_t j = 0; j < f.m; ++j)
      left.push_back(0.5f * (at(f.vx, i + 1, j) - at(f.vx, i - 1, j) + at(f.vy, i, j + 1) - at(f.vy, i, j - 1)));
  return rms(left);
}

// The difference formulas require 1/2. With 1, twice the divergence is removed, however exact the pressure is.
TEST(Fluid, ProjectionConstants) {
  const struct {
    int cycles;
    double left;
  } golden[] = {{1, 2.21e-3}, {2, 7.3e-4}, {4, 3.0e-4}, {8, 1.8e-4}};
  for (const auto& g : golden) EXPECT_NEAR(divergence_left(0.5f, g.cycles), g.left, 0.005e-3) << g.cycles;
  EXPECT_NEAR(divergence_left(1, 1), 7.33e-3, 0.005e-3);
  EXPECT_NEAR(divergence_left(1, 30), 7.0e-3, 0.05e-3);
}

// Speed and ink become colours by smooth steps from 0 to 1/3, from 1/3 to 2/3, and from 2/3 to 1.
TEST(Fluid, Colours) {
  constexpr auto any = kiln::dynamic_extent;
  constexpr std::int64_t h = 9, w = 11;
  std::vector<float> vx, vy, density, canvas(h * w * 3);
  for (int k = 0; k < h * w; ++k) {
    vx.push_back(0.01f * static_cast<float>(k % 40 - 20));
    vy.push_back(0.03f * static_cast<float>(k % 17 - 8));
    density.push_back(0.013f * static_cast<float>(k));
  }
  const auto in = [&](const std::vector<float>& v) { return kiln::view<const float, any, any>(v.data(), h, w); };
  check(fluid_kernels::colours(in(vx), in(vy), in(density), 2.5f, 0.9f, kiln::view<float, any, any, 3>(canvas.data(), h, w)));
  const auto smooth = [](double from, double to, double x) {
    const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
    return t * t * (3 - 2 * t);
  };
  for (std::size_t k = 0; k < vx.size(); ++k) {
    const double a = std::clamp(2.5 * std::hypot(static_cast<double>(vx[k]), static_cast<double>(vy[k])), 0.0, 1.0);
    const double d = std::clamp(0.9 * static_cast<double>(density[k]), 0.0, 1.0);
    const double rgb[] = {smooth(0, 0.33, a) + smooth(0.66, 1, d), smooth(0.33, 0.66, a) + smooth(0.33, 0.66, d),
                          smooth(0.66, 1, a) + smooth(0, 0.33, d)};
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(static_cast<double>(canvas[3 * k + c]), rgb[c], 2e-6) << k << " " << c;
  }
}

}  // namespace
