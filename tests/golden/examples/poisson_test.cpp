// Red-black relaxation of examples/poisson, compared with numbers from an independent program in f64.
#include <gtest/gtest.h>
#include <kiln/view.h>
#include <poisson_kernels/relax.h>

#include <numeric>
#include <vector>

#include "examples/common/check.h"

namespace {

constexpr std::int64_t n = 128;

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
  const relaxation r(1.954);
  EXPECT_NEAR(r.error[0], -3.53972, 5e-6);
  EXPECT_NEAR(r.error[15], -2.69214, 5e-6);
  EXPECT_NEAR(r.error[63], -2.91995, 5e-6);
  EXPECT_NEAR(r.error[127], -4.09937, 5e-6);
  EXPECT_NEAR(r.error[255], -7.24624, 5e-6);
  EXPECT_NEAR(r.p[64 * n + 64], -0.932527, 5e-7);
  EXPECT_NEAR(std::accumulate(r.p.begin(), r.p.end(), 0.0), -1225.79, 5e-3);
}

TEST(Poisson, WithoutOverrelaxation) {
  const relaxation r(1);
  // Only the border changes the sum of the residuals, and it is far away.
  for (std::size_t k = 0; k < 128; ++k) EXPECT_NEAR(r.error[k], -4.2144, 5e-5) << k;
  EXPECT_NEAR(r.error[255], -4.2145, 5e-5);
  EXPECT_NEAR(r.p[64 * n + 64], -0.707762, 5e-7);
}

}  // namespace
