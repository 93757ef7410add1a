// Fits 1 - 2 x + x^3 / 2 to points of this curve, one step for each call.
#include <fit_kernels/fit_cubic.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  std::vector<double> x, y, c(4);
  for (int i = -8; i <= 8; ++i) {
    x.push_back(i / 8.0);
    y.push_back(1 - 2 * x.back() + x.back() * x.back() * x.back() / 2);
  }
  double loss = 1;
  int steps = 0;
  for (; loss > 1e-16 && steps < 1000; ++steps)
    if (kiln::status s = fit_kernels::fit_cubic(x, y, c, loss); !s) return std::puts(s.message().c_str()), 1;
  std::printf("%d steps: %.4f + %.4f x + %.4f x^3\n", steps, c[0], c[1], c[3]);
  return std::abs(c[1] + 2) + std::abs(c[3] - 0.5) < 1e-5 ? 0 : 1;
}
