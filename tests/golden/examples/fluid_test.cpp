// The fluid of examples/fluid, compared with the table that tests/reference/fluid.cpp computes in f64.
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

struct AfterSteps {
  int step;
  double energy, density;
};
// Root mean squares of the divergence before and after the projection.
struct Projection {
  double projection;
  int cycles;
  double before, left;
};

constexpr struct {
  AfterSteps steps[4];
  struct {
    double divergence, residual;  // root mean squares
    double element;               // element (128, 256) of the velocity along rows, the place of the source
  } first_step;
  Projection projections[6];
} reference = {
#include "tests/reference/fluid.inc"
};

// The clamps are not smooth, so differences grow with the steps.
TEST(Fluid, Golden) {
  fluid f(256, 512, 1.0f);
  int done = 0;
  for (const AfterSteps& r : reference.steps) {
    for (; done < r.step; ++done) f.step({256, 128, 0.5f, 2, 1}, 0.02f, 0.999f, {});
    const double tolerance = done == 10 ? 5e-3 : 1e-3;
    EXPECT_NEAR((sum_of_squares(f.vx) + sum_of_squares(f.vy)) / 2 / r.energy, 1, tolerance) << done;
    EXPECT_NEAR(sum(f.density) / r.density, 1, tolerance) << done;
    if (done > 1) continue;
    EXPECT_NEAR(rms(f.divergence), reference.first_step.divergence, 5e-8);
    EXPECT_NEAR(rms(f.residual), reference.first_step.residual, 5e-8);
    EXPECT_NEAR(static_cast<double>(f.vx[128 * 512 + 256]), reference.first_step.element, 5e-7);
  }
}

double divergence_left(const Projection& r) {
  fluid f(256, 512, static_cast<float>(r.projection), r.cycles);
  f.step({256, 128, 0.5f, 2, 0}, 0, 1, {});
  EXPECT_NEAR(rms(f.divergence), r.before, 5e-7);
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
  for (const Projection& r : reference.projections)
    EXPECT_NEAR(divergence_left(r), r.left, 1e-8) << r.projection << ", " << r.cycles << " cycles";
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
