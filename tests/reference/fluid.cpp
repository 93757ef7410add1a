// Prints the table that tests/golden/examples/fluid_test.cpp reads: steps of the fluid of examples/fluid, computed in f64.
//
// The method is J. Stam, "Stable Fluids", 1999, with vorticity confinement by R. Fedkiw, J. Stam, H. W. Jensen, "Visual
// Simulation of Smoke", 2001. Velocity (along rows, along columns) and ink are given at the points of a grid with distance 1. A
// point outside has the value of the nearest point of the grid. One step of length 1:
//
// 1. Advection. A value comes from the place upstream that a step of the classical Runge-Kutta method finds, with bilinearly
//    interpolated velocities. It is the Catmull-Rom interpolation there, kept between 0.99 and 1.01 of the bilinear one.
// 2. The source: exp(-r^2 / 100) times a velocity, and its square times an amount of ink, where r is the distance from the
//    source. Then velocity and ink decay by a factor. Ink is at least 0, and it is 0 outside of the interior, which is all
//    points but those of the three rows and columns next to a border.
// 3. Pressure p: Laplace(p) = divergence of the velocity by central differences, by V-cycles (W. L. Briggs, V. E. Henson, S. F.
//    McCormick, "A Multigrid Tutorial", 2nd edition) on three grids. A residual goes down as a mean of four, a correction comes
//    back by bilinear interpolation, and the relaxation is the red-black one of poisson.cpp, with 0 outside of the grid. Coarse
//    grids start at 0 and relax 4 times with omega 1.2 and 12 times with 1.5; then the finest relaxes once with 1.
// 4. Projection: the interior's velocity loses c (p(i+1, j) - p(i-1, j)) and likewise along columns, and gains the confinement
//    e |w| (-ny, nx), where w is the curl by central differences and n the direction of the gradient of |w|.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

struct Field {
  int rows, columns;
  std::vector<double> values;
  Field(int n, int m) : rows(n), columns(m), values(static_cast<std::size_t>(n) * static_cast<std::size_t>(m)) {}

  double& at(int i, int j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(int i, int j) const {
    return values[static_cast<std::size_t>(std::clamp(i, 0, rows - 1) * columns + std::clamp(j, 0, columns - 1))];
  }
  double or_zero(int i, int j) const { return i < 0 || j < 0 || i >= rows || j >= columns ? 0 : (*this)(i, j); }
  bool is_interior(int i, int j) const { return std::min(i, j) >= 3 && i < rows - 3 && j < columns - 3; }

  template <class Function>
  void fill(const Function& value) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) at(i, j) = value(i, j);
  }
  double sum(int power) const {
    double total = 0;
    for (const double value : values) total += std::pow(value, power);
    return total;
  }
  double root_mean_square() const { return std::sqrt(sum(2) / static_cast<double>(values.size())); }
};

struct Place {
  double row, column;
};

// The sum of values around the place, times weights: value n of count values along an axis has the weight weight(n, fraction).
template <class Weight>
double interpolate(const Field& field, Place place, int first, int count, const Weight& weight) {
  const double row = std::floor(place.row), column = std::floor(place.column);
  double sum = 0;
  for (int b = first; b < first + count; ++b) {
    double line = 0;
    for (int a = first; a < first + count; ++a)
      line += weight(a, place.row - row) * field(static_cast<int>(row) + a, static_cast<int>(column) + b);
    sum += weight(b, place.column - column) * line;
  }
  return sum;
}
double bilinear(const Field& field, Place place) {
  return interpolate(field, place, 0, 2, [](int n, double t) { return n == 0 ? 1 - t : t; });
}
// E. Catmull, R. Rom, "A class of local interpolating splines", 1974, as a convolution: R. G. Keys, "Cubic convolution
// interpolation for digital image processing", 1981, equation 15.
double catmull_rom(const Field& field, Place place) {
  return interpolate(field, place, -1, 4, [](int n, double t) {
    const double s = std::fabs(t - n);
    return s < 1 ? 1.5 * s * s * s - 2.5 * s * s + 1 : -0.5 * s * s * s + 2.5 * s * s - 4 * s + 2;
  });
}

struct Source {
  int row, column;
  double along_rows, along_columns, ink;
};

struct Constants {
  Source source;
  double confinement, decay, projection;
  int cycles;
};

class Fluid {
 public:
  Field vx{256, 512}, vy = vx, ink = vx, p = vx, divergence = vx, residual = vx;  // vx: along rows, vy: along columns

  void step(const Constants& c) {
    advect(c);
    divergence = divergence_now();
    Field curl = vx;
    curl.fill([&](int i, int j) { return std::fabs(vy(i + 1, j) - vy(i - 1, j) - (vx(i, j + 1) - vx(i, j - 1))) / 2; });
    p = Field(p.rows, p.columns);
    for (int cycle = 0; cycle < c.cycles; ++cycle) improve(p, divergence, 1, 0);
    for (int i = 0; i < vx.rows; ++i)
      for (int j = 0; j < vx.columns; ++j) {
        if (!vx.is_interior(i, j)) continue;
        const double nx = curl(i + 1, j) - curl(i - 1, j), ny = curl(i, j + 1) - curl(i, j - 1);
        const double strength = c.confinement * curl(i, j) / (std::hypot(nx, ny) + 1e-5);
        vx.at(i, j) -= c.projection * (p(i + 1, j) - p(i - 1, j)) + strength * ny;
        vy.at(i, j) -= c.projection * (p(i, j + 1) - p(i, j - 1)) - strength * nx;
      }
    residual = residual_of(p, divergence, 1);
  }

  Field divergence_now() const {
    Field d = vx;
    d.fill([&](int i, int j) { return (vx(i + 1, j) - vx(i - 1, j) + vy(i, j + 1) - vy(i, j - 1)) / 2; });
    return d;
  }

 private:
  void advect(const Constants& c) {
    const Field old_vx = vx, old_vy = vy, old_ink = ink;
    const auto velocity = [&](Place at) { return Place{bilinear(old_vx, at), bilinear(old_vy, at)}; };
    for (int i = 0; i < vx.rows; ++i)
      for (int j = 0; j < vx.columns; ++j) {
        const auto upstream = [&](Place by, double time) { return Place{i - by.row * time, j - by.column * time}; };
        const Place k1 = {old_vx(i, j), old_vy(i, j)}, k2 = velocity(upstream(k1, 0.5)), k3 = velocity(upstream(k2, 0.5)),
                    k4 = velocity(upstream(k3, 1));
        const Place from = upstream(
            {(k1.row + 2 * k2.row + 2 * k3.row + k4.row) / 6, (k1.column + 2 * k2.column + 2 * k3.column + k4.column) / 6}, 1);
        const auto moved = [&](const Field& field) {
          const double b = bilinear(field, from);
          return std::clamp(catmull_rom(field, from), std::min(0.99 * b, 1.01 * b), std::max(0.99 * b, 1.01 * b));
        };
        const double bell = std::exp(-(std::pow(i - c.source.row, 2) + std::pow(j - c.source.column, 2)) / 100);
        vx.at(i, j) = c.decay * (moved(old_vx) + bell * c.source.along_rows);
        vy.at(i, j) = c.decay * (moved(old_vy) + bell * c.source.along_columns);
        ink.at(i, j) = ink.is_interior(i, j) ? c.decay * std::max(moved(old_ink) + bell * bell * c.source.ink, 0.0) : 0;
      }
  }

  // The equation on a grid is Laplace(p) = scale f: points of a coarse grid have twice the distance, hence scale 4 there.
  static Field residual_of(const Field& p, const Field& f, double scale) {
    Field r = p;
    r.fill([&](int i, int j) {
      const double laplacian = p(i - 1, j) + p(i + 1, j) + p(i, j - 1) + p(i, j + 1) - 4 * p(i, j);
      return p.is_interior(i, j) ? scale * f(i, j) - laplacian : 0;
    });
    return r;
  }

  static void relax(Field& p, const Field& f, double scale, int iterations, double omega) {
    for (int half = 0; half < 2 * iterations; ++half)
      for (int i = 0; i < p.rows; ++i)
        for (int j = (i + half) % 2; j < p.columns; j += 2) {
          const double around = p.or_zero(i - 1, j) + p.or_zero(i + 1, j) + p.or_zero(i, j - 1) + p.or_zero(i, j + 1);
          p.at(i, j) += omega * ((around - scale * f(i, j)) / 4 - p(i, j));
        }
  }

  // A V-cycle from the given level on. Level 0 is the finest, level 2 the coarsest.
  static void improve(Field& p, const Field& f, double scale, int level) {
    if (level > 0) relax(p, f, scale, level == 1 ? 4 : 12, level == 1 ? 1.2 : 1.5);
    if (level == 2) return;
    const Field r = residual_of(p, f, scale);
    Field coarse(p.rows / 2, p.columns / 2), correction = coarse;
    coarse.fill([&](int i, int j) {
      return (r(2 * i, 2 * j) + r(2 * i + 1, 2 * j) + r(2 * i, 2 * j + 1) + r(2 * i + 1, 2 * j + 1)) / 4;
    });
    improve(correction, coarse, 4, level + 1);
    p.fill([&](int i, int j) { return p(i, j) + bilinear(correction, {i / 2.0, j / 2.0}); });
    if (level == 0) relax(p, f, scale, 1, 1);
  }
};

void print_steps() {
  const Constants c{{128, 256, 0.5, 2, 1}, 0.02, 0.999, 1, 1};
  Fluid f;
  std::puts(".steps = {");
  for (int step = 1; step <= 10; ++step) {
    f.step(c);
    if (step == 1 || step == 2 || step == 5 || step == 10)
      std::printf("  {.step = %d, .energy = %.9g, .density = %.9g},\n", step, (f.vx.sum(2) + f.vy.sum(2)) / 2, f.ink.sum(1));
  }
  std::puts("},");
}

void print_first_step() {
  Fluid f;
  f.step({{128, 256, 0.5, 2, 1}, 0.02, 0.999, 1, 1});
  std::printf(".first_step = {.divergence = %.9g, .residual = %.9g, .element = %.9g},\n", f.divergence.root_mean_square(),
              f.residual.root_mean_square(), f.vx(128, 256));
}

void print_projections() {
  std::puts(".projections = {");
  struct {
    double projection;
    int cycles;
  } const cases[] = {{0.5, 1}, {0.5, 2}, {0.5, 4}, {0.5, 8}, {1, 1}, {1, 30}};
  for (const auto& [projection, cycles] : cases) {
    Fluid f;
    f.step({{128, 256, 0.5, 2, 0}, 0, 1, projection, cycles});
    std::printf("  {.projection = %g, .cycles = %d, .before = %.9g, .left = %.9g},\n", projection, cycles,
                f.divergence.root_mean_square(), f.divergence_now().root_mean_square());
  }
  std::puts("},");
}

}  // namespace

int main() {
  std::puts("// Printed by tests/reference/fluid.cpp.");
  print_steps();
  print_first_step();
  print_projections();
}
