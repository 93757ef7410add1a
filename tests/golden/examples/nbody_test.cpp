// Both forms of examples/nbody, compared with the table that tests/reference/nbody.cpp computes in f64. N = 64, 100 steps.
#include <gtest/gtest.h>
#include <nbody_kernels/loop_steps_f32.h>
#include <nbody_kernels/loop_steps_f64.h>
#include <nbody_kernels/loops_f32.h>
#include <nbody_kernels/loops_f64.h>
#include <nbody_kernels/tensor_steps_f32.h>
#include <nbody_kernels/tensor_steps_f64.h>
#include <nbody_kernels/tensors_f32.h>
#include <nbody_kernels/tensors_f64.h>

#include <cmath>
#include <utility>
#include <vector>

#include "examples/common/check.h"

namespace {

constexpr std::int64_t n = 64;

template <class T>
using input = kiln::view<const T, kiln::dynamic_extent, 3>;
template <class T>
using output = kiln::view<T, kiln::dynamic_extent, 3>;
template <class T>
using step = kiln::status (*)(input<T>, input<T>, output<T>, output<T>, const kiln::context&);
template <class T>
using steps = kiln::status (*)(std::int32_t, output<T>, output<T>, const kiln::context&);

template <class T>
struct bodies {
  std::vector<T> x = std::vector<T>(3 * n), v = x;
  bodies() {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto a = static_cast<double>(i), b = static_cast<double>(k);
        x[3 * i + k] = static_cast<T>(5 * std::sin(1.7 * a + 2.3 * b + 0.1 * a * b));
      }
  }
};

constexpr struct {
  double x[3], v[3];  // of the first body
  double energy;      // kinetic, of all bodies
} reference = {
#include "tests/reference/nbody.inc"
};

// The first coordinate of the first body stays near 0, so it has a smaller error. Forces of pairs are opposite, so momentum is
// only the rounding error.
template <class T>
void check_golden(const bodies<T>& b, double tolerance, double momentum_tolerance) {
  EXPECT_NEAR(static_cast<double>(b.x[0]), reference.x[0], tolerance / 1000);
  double energy = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(static_cast<double>(b.x[k]), reference.x[k], tolerance) << k;
    EXPECT_NEAR(static_cast<double>(b.v[k]), reference.v[k], tolerance) << k;
    double momentum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto speed = static_cast<double>(b.v[3 * i + k]);
      energy += speed * speed / 2;
      momentum += speed;
    }
    EXPECT_NEAR(momentum, 0, momentum_tolerance) << k;
  }
  EXPECT_NEAR(energy, reference.energy, tolerance);
}

// 100 calls of one step and one call of 100 steps give the same bits.
template <class T>
void check_form(step<T> one, steps<T> many, double tolerance, double momentum_tolerance) {
  bodies<T> b, next, all;
  for (int k = 0; k < 100; ++k) {
    check(one(input<T>(b.x.data(), n), input<T>(b.v.data(), n), output<T>(next.x.data(), n), output<T>(next.v.data(), n), {}));
    std::swap(b, next);
  }
  check_golden(b, tolerance, momentum_tolerance);
  check(many(100, output<T>(all.x.data(), n), output<T>(all.v.data(), n), {}));
  EXPECT_EQ(all.x, b.x);
  EXPECT_EQ(all.v, b.v);
}

TEST(NBody, TensorForm) {
  check_form<double>(nbody_kernels::tensors_f64, nbody_kernels::tensor_steps_f64, 1e-9, 1e-14);
  check_form<float>(nbody_kernels::tensors_f32, nbody_kernels::tensor_steps_f32, 1e-5, 1e-5);
}
TEST(NBody, LoopForm) {
  check_form<double>(nbody_kernels::loops_f64, nbody_kernels::loop_steps_f64, 1e-9, 1e-14);
  check_form<float>(nbody_kernels::loops_f32, nbody_kernels::loop_steps_f32, 1e-5, 1e-5);
}

}  // namespace
