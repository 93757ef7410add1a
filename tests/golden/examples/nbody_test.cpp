// Both forms of examples/nbody against numbers of an independent program in f64; N = 64, 100 steps.
#include <gtest/gtest.h>
#include <nbody_kernels/loops_f32.h>
#include <nbody_kernels/loops_f64.h>
#include <nbody_kernels/tensors_f32.h>
#include <nbody_kernels/tensors_f64.h>

#include <cmath>
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
void check_step(step<T> f, double tolerance) {
  std::vector<T> x(3 * n), v(x.size()), next_x(x.size()), next_v(x.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = static_cast<double>(i), b = static_cast<double>(k);
      x[3 * i + k] = static_cast<T>(5 * std::sin(1.7 * a + 2.3 * b + 0.1 * a * b));
    }
  for (int s = 0; s < 100; ++s) {
    check(f(input<T>(x.data(), n), input<T>(v.data(), n), output<T>(next_x.data(), n), output<T>(next_v.data(), n), {}));
    x.swap(next_x);
    v.swap(next_v);
  }
  const double golden_x[] = {-2.20724e-5, 3.7237778, -4.9638306}, golden_v[] = {-4.585e-4, -0.0940915, 0.0916324};
  double energy = 0, momentum[3] = {};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(static_cast<double>(x[k]), golden_x[k], tolerance) << k;
    EXPECT_NEAR(static_cast<double>(v[k]), golden_v[k], tolerance) << k;
    for (std::size_t i = 0; i < n; ++i) {
      const auto speed = static_cast<double>(v[3 * i + k]);
      energy += speed * speed / 2;
      momentum[k] += speed;
    }
    EXPECT_NEAR(momentum[k], 0, tolerance * 10) << k;
  }
  EXPECT_NEAR(energy, 0.7800580, tolerance);
}

TEST(NBody, TensorForm) {
  check_step<double>(nbody_kernels::tensors_f64, 6e-8);
  check_step<float>(nbody_kernels::tensors_f32, 1e-5);
}
TEST(NBody, LoopForm) {
  check_step<double>(nbody_kernels::loops_f64, 6e-8);
  check_step<float>(nbody_kernels::loops_f32, 1e-5);
}

}  // namespace
