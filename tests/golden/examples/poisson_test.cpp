// Red-black relaxation of examples/poisson, compared with the table that tests/reference/poisson.cpp computes in f64.
#include <gtest/gtest.h>
#include <kiln/view.h>
#include <poisson_kernels/relax.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "examples/common/check.h"

namespace {

constexpr std::int64_t n = 128;

struct Reference {
  double omega;
  struct {
    std::size_t iterations;
    double error;
  } errors[5];
  double middle, sum;  // of p after the last iteration
};

constexpr Reference reference[] = {
#include "tests/reference/poisson.inc"
};

struct relaxation {
  std::vector<double> p = std::vector<double>(n * n), error;
  explicit relaxation(double omega) {
    constexpr auto any = kiln::dynamic_extent;
    std::vector<double> f(n * n);
    f[64 * n + 64] = 1;
    error.resize(256);
    check(poisson_kernels::relax(kiln::view<const double, any, any>(f.data(), n, n), omega,
                                 kiln::view<double, any, any>(p.data(), n, n), error));
  }
};

TEST(Poisson, Golden) {
  for (const Reference& expected : reference) {
    const relaxation r(expected.omega);
    for (const auto& [iterations, error] : expected.errors)
      EXPECT_NEAR(r.error[iterations - 1], error, 1e-9) << expected.omega << ", " << iterations << " iterations";
    EXPECT_NEAR(r.p[64 * n + 64], expected.middle, 1e-11) << expected.omega;
    EXPECT_NEAR(std::accumulate(r.p.begin(), r.p.end(), 0.0), expected.sum, 1e-8) << expected.omega;
  }
}

// The residuals move, and their sum stays 1, until they reach the border.
TEST(Poisson, WithoutOverrelaxation) {
  const relaxation r(1);
  for (std::size_t k = 0; k < 128; ++k) EXPECT_NEAR(r.error[k], std::log10(1.0 / (n * n)), 1e-7) << k;
}

}  // namespace
