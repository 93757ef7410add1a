// The wave of examples/wave, compared with numbers from an independent program in f64.
#include <gtest/gtest.h>
#include <wave_kernels/step.h>

#include "examples/wave/state.h"

namespace {

double sum(const std::vector<float>& v, int power) {
  double s = 0;
  for (const float x : v) s += std::pow(static_cast<double>(x), power);
  return s;
}

TEST(Wave, Golden) {
  const struct {
    int steps;
    double sum_u, sum_v2, element;
  } golden[] = {{1, 624.754327, 0.32371, 0.998408},
                {10, 456.136314, 20.55271, 0.948761},
                {100, -192.986259, 18.90743, 0.356183},
                {500, -292.0629, 15.98316, -0.042001}};
  wave w;
  kiln::context serial;
  int done = 0;
  for (const auto& g : golden) {
    w.steps(g.steps - done, serial);
    done = g.steps;
    // f32 has an error of 1e-6. Half of a golden number's last digit is added.
    EXPECT_NEAR(sum(w.u, 1), g.sum_u, 1e-6 * std::fabs(g.sum_u)) << g.steps;
    EXPECT_NEAR(sum(w.v, 2), g.sum_v2, 1e-6 * g.sum_v2 + 5e-6) << g.steps;
    EXPECT_NEAR(static_cast<double>(w.u[78 * 512 + 256]), g.element, 1e-6) << g.steps;
  }
}

TEST(Wave, OneKernelForBothOutputs) {
  EXPECT_EQ(wave_kernels_step_desc()->n_kernels, 1);
  constexpr auto any = kiln::dynamic_extent;
  wave w;
  std::vector<float> u(w.u.size()), v(u.size());
  check(wave_kernels::step(kiln::view<const float, any, any>(w.u.data(), w.n, w.m),
                           kiln::view<const float, any, any>(w.v.data(), w.n, w.m),
                           kiln::view<float, any, any>(u.data(), w.n, w.m), kiln::view<float, any, any>(v.data(), w.n, w.m)));
  w.steps(1, {});
  EXPECT_EQ(u, w.u);
  EXPECT_EQ(v, w.v);
}

}  // namespace
