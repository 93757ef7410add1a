// Prints the table that tests/golden/examples/poisson_test.cpp reads: the relaxation of examples/poisson, computed in f64.
//
// The equation is Laplace(p) = f on a grid of 128 x 128 points with distance 1, where p is 0 outside of the grid and f is 1 in
// the middle and else 0. The five-point formula gives, for the point (i, j):
//
//   p(i-1, j) + p(i+1, j) + p(i, j-1) + p(i, j+1) - 4 p(i, j) = f(i, j)
//
// The method is successive over-relaxation in red-black order (D. M. Young, "Iterative Solution of Large Linear Systems", 1971;
// W. H. Press et al., "Numerical Recipes", 3rd edition, section 20.5.1). An iteration first visits the points with even i + j,
// then the others. At each point it moves p by omega times the change that would satisfy the point's equation. The error is
// log10 of the mean absolute residual, left side minus right side, after an iteration.
#include <array>
#include <cmath>
#include <cstdio>

namespace {

constexpr int size = 128, middle = size / 2, iterations = 256;

struct Relaxation {
  // A border of zeros surrounds the grid: point (i, j) is p[i + 1][j + 1].
  std::array<std::array<double, size + 2>, size + 2> p{};

  double residual(int i, int j) const {
    const auto row = static_cast<std::size_t>(i + 1), column = static_cast<std::size_t>(j + 1);
    const double f = i == middle && j == middle ? 1 : 0;
    return p[row - 1][column] + p[row + 1][column] + p[row][column - 1] + p[row][column + 1] - 4 * p[row][column] - f;
  }

  void iterate(double omega) {
    for (int parity = 0; parity < 2; ++parity)
      for (int i = 0; i < size; ++i)
        for (int j = (i + parity) % 2; j < size; j += 2)
          p[static_cast<std::size_t>(i + 1)][static_cast<std::size_t>(j + 1)] += omega * residual(i, j) / 4;
  }

  double error() const {
    double sum = 0;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) sum += std::fabs(residual(i, j));
    return std::log10(sum / (size * size));
  }

  double sum() const {
    double total = 0;
    for (const auto& row : p)
      for (const double value : row) total += value;
    return total;
  }
};

void print(double omega) {
  Relaxation r;
  std::printf("{.omega = %g, .errors = {", omega);
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    r.iterate(omega);
    const bool last = iteration == iterations;
    if (iteration == 1 || iteration == 16 || iteration == 64 || iteration == 128 || last)
      std::printf("{%d, %.10f}%s", iteration, r.error(), last ? "}" : ", ");
  }
  std::printf(", .middle = %.12g, .sum = %.12g},\n", r.p[middle + 1][middle + 1], r.sum());
}

}  // namespace

int main() {
  std::puts("// Printed by tests/reference/poisson.cpp. Errors: {number of iterations, log10 of the mean residual}.");
  print(1.954);
  print(1);
}
