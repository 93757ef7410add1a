// The wave of examples/wave, compared with the table that tests/reference/wave.cpp computes in f64.
#include <gtest/gtest.h>
#include <wave_kernels/step.h>

#include "examples/wave/state.h"

namespace {

double sum(const std::vector<float>& v, int power) {
  double s = 0;
  for (const float x : v) s += std::pow(static_cast<double>(x), power);
  return s;
}

struct AfterSteps {
  int steps;
  double sum_u, sum_v2, element;  // element (78, 256) of u, the centre of the first bump
};

constexpr AfterSteps reference[] = {
#include "tests/reference/wave.inc"
};

TEST(Wave, Golden) {
  wave w;
  kiln::context serial;
  int done = 0;
  for (const AfterSteps& r : reference) {
    w.steps(r.steps - done, serial);
    done = r.steps;
    // 1e-6 is the error of f32.
    EXPECT_NEAR(sum(w.u, 1), r.sum_u, 1e-6 * std::fabs(r.sum_u)) << r.steps;
    EXPECT_NEAR(sum(w.v, 2), r.sum_v2, 1e-6 * r.sum_v2) << r.steps;
    EXPECT_NEAR(static_cast<double>(w.u[78 * 512 + 256]), r.element, 1e-6) << r.steps;
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
