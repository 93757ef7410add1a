// Prints the table that tests/golden/examples/wave_test.cpp reads: the wave of examples/wave, computed in f64.
//
// The equation is the two-dimensional sine-Gordon equation with the scaled force of a sine of period 1:
//
//   u'' = Laplace(u) - 0.1 sin(2 pi u)
//
// (A. Barone, F. Esposito, C. J. Magee, A. C. Scott, "Theory and applications of the sine-Gordon equation", Rivista del Nuovo
// Cimento 1, 1971). The Laplacian is the five-point formula with distance 1. Outside of the grid, a value is that of the
// nearest point of the grid. One step of length 0.2 is the symplectic Euler method (E. Hairer, C. Lubich, G. Wanner, "Geometric
// Numerical Integration", section I.1.2): first the velocity v = u' changes by the force, then u changes by the new velocity.
//
// At the start, u is the sum of two bumps exp(-r^2 / 100), where r is the distance from the bump's centre, and v is 0.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

namespace {

constexpr int rows = 256, columns = 512;
constexpr double step_length = 0.2, strength = 0.1;

int place(int row, int column) { return std::clamp(row, 0, rows - 1) * columns + std::clamp(column, 0, columns - 1); }

class Grid {
 public:
  double operator()(int row, int column) const { return values_[static_cast<std::size_t>(place(row, column))]; }
  double& set(int row, int column) { return values_[static_cast<std::size_t>(place(row, column))]; }

  double sum() const {
    double total = 0;
    for (const double value : values_) total += value;
    return total;
  }
  double sum_of_squares() const {
    double total = 0;
    for (const double value : values_) total += value * value;
    return total;
  }

 private:
  std::vector<double> values_ = std::vector<double>(rows * columns);
};

double bump(int row, int column, int centre_row, int centre_column) {
  const double square = (row - centre_row) * (row - centre_row) + (column - centre_column) * (column - centre_column);
  return std::exp(-square / 100);
}

void make_step(Grid& u, Grid& v) {
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const double laplacian =
          u(row + 1, column) + u(row - 1, column) + u(row, column + 1) + u(row, column - 1) - 4 * u(row, column);
      v.set(row, column) += step_length * (laplacian - strength * std::sin(2 * std::numbers::pi * u(row, column)));
    }
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) u.set(row, column) += step_length * v(row, column);
}

}  // namespace

int main() {
  Grid u, v;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      u.set(row, column) = bump(row, column, 78, 256) + bump(row, column, 178, 306);
  std::puts("// Printed by tests/reference/wave.cpp.");
  for (int step = 1; step <= 500; ++step) {
    make_step(u, v);
    if (step == 1 || step == 10 || step == 100 || step == 500)
      std::printf("{.steps = %d, .sum_u = %.9g, .sum_v2 = %.9g, .element = %.9g},\n", step, u.sum(), v.sum_of_squares(),
                  u(78, 256));
  }
}
