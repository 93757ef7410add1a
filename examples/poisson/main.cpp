// poisson OUT_DIR: the solution for a point source on 128 x 128 cells after 4, 16, 64 and 256 iterations.
#include <poisson_kernels/relax.h>

#include <cmath>

#include "../common/example.h"

namespace {
constexpr std::int64_t n = 128;

image picture(kiln::context& with) {
  constexpr auto any = kiln::dynamic_extent;
  std::vector<double> f(n * n), p(n * n);
  f[64 * n + 64] = 1;
  std::vector<image> frames;
  std::int64_t done = 0;
  for (const std::int64_t iterations : {4, 16, 64, 256}) {
    std::vector<double> error(static_cast<std::size_t>(iterations - done));
    done = iterations;
    check(poisson_kernels::relax(kiln::view<const double, any, any>(f.data(), n, n), 1.954,
                                 kiln::view<double, any, any>(p.data(), n, n), error, with));
    std::vector<float> depth;  // the logarithm of -p, which shows how far the source's effect reaches
    for (const double v : p) depth.push_back(static_cast<float>(2 + std::log10(1e-9 - std::fmin(v, 0.0))));
    frames.push_back(signed_colours(depth, n, n, 2.0f));
  }
  return joined(frames, 4);
}
}  // namespace

int main(int argc, char** argv) { return example("poisson", argc, argv, picture); }
