// Prints the table that tests/golden/examples/sph_test.cpp reads: steps of the 64 particles of examples/sph, computed in f64.
//
// The method is smoothed particle hydrodynamics with a Gaussian kernel (R. A. Gingold, J. J. Monaghan, "Smoothed particle
// hydrodynamics", Monthly Notices of the RAS 181, 1977), with forces of the kinds of M. Müller, D. Charypar, M. Gross,
// "Particle-Based Fluid Simulation for Interactive Applications", 2003. With r = x(j) - x(i), the density at particle i is
//
//   rho(i) = sum over j of exp(-|r|^2 / h^2)
//
// The force on particle i is the sum over j != i of r times the following sum, where d^2 = |r|^2 + 1e-4, w = exp(-d^2 / h^2),
// and s r is the gradient of w, so s = -2 w / h^2:
//
//   gravity:    g / d^3
//   viscosity:  -m ((v(j) - v(i)) . r) / (|r| + 1e-5) s
//   pressure:   k ((rho(i) - rho0) + (rho(j) - rho0)) / 2 s
//   repulsion:  -250 w / (|r| + 1e-8)^2
//
// The constants: h = 0.3, g = 1.5, m = 1, k = 20, rho0 = 2. A step of length 1e-4 is the symplectic Euler method: first the
// velocities change by the forces, then the positions by the new velocities. Particles have the mass 1.
//
// At the start, coordinate k of particle i is 0.5 sin(1.7 i + 2.3 k + 0.1 i k), and its velocity is 0.1 cos(0.9 i + 1.1 k).
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace {

constexpr std::size_t particles = 64;
constexpr double width = 0.3, gravity = 1.5, viscosity = 1, stiffness = 20, rest_density = 2, repulsion = 250;
constexpr double step_length = 1e-4;

using Vector = std::array<double, 3>;
using Vectors = std::array<Vector, particles>;

Vector difference(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Fluid {
  Vectors x{}, v{}, force{};
  std::array<double, particles> density{};

  Fluid() {
    for (std::size_t i = 0; i < particles; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto particle = static_cast<double>(i), axis = static_cast<double>(k);
        x[i][k] = 0.5 * std::sin(1.7 * particle + 2.3 * axis + 0.1 * particle * axis);
        v[i][k] = 0.1 * std::cos(0.9 * particle + 1.1 * axis);
      }
  }

  // The force on i because of j, divided by x(j) - x(i).
  double factor(std::size_t i, std::size_t j) const {
    const Vector r = difference(x[j], x[i]);
    const double square = dot(r, r), distance = std::sqrt(square), d2 = square + 1e-4, w = std::exp(-d2 / (width * width));
    const double s = -2 * w / (width * width);
    return gravity / std::pow(d2, 1.5) - viscosity * dot(difference(v[j], v[i]), r) / (distance + 1e-5) * s +
           stiffness * (density[i] - rest_density + density[j] - rest_density) / 2 * s -
           repulsion * w / std::pow(distance + 1e-8, 2);
  }

  void make_step() {
    for (std::size_t i = 0; i < particles; ++i) {
      density[i] = 0;
      for (std::size_t j = 0; j < particles; ++j) {
        const Vector r = difference(x[j], x[i]);
        density[i] += std::exp(-dot(r, r) / (width * width));
      }
    }
    for (std::size_t i = 0; i < particles; ++i) {
      force[i] = {};
      for (std::size_t j = 0; j < particles; ++j) {
        if (i == j) continue;
        const Vector r = difference(x[j], x[i]);
        const double f = factor(i, j);
        for (std::size_t k = 0; k < 3; ++k) force[i][k] += r[k] * f;
      }
    }
    for (std::size_t i = 0; i < particles; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        v[i][k] += step_length * force[i][k];
        x[i][k] += step_length * v[i][k];
      }
  }

  double sum_of_densities() const {
    double sum = 0;
    for (const double value : density) sum += value;
    return sum;
  }
  double kinetic_energy() const {
    double energy = 0;
    for (const Vector& speed : v) energy += dot(speed, speed) / 2;
    return energy;
  }
};

void print(int step, const Fluid& f) {
  const auto& x = f.x[0];
  const auto& force = f.force[0];
  std::printf("{.steps = %d, .density = %.9g, .sum_of_densities = %.10g, .force = {%.9g, %.10g, %.10g},\n", step, f.density[0],
              f.sum_of_densities(), force[0], force[1], force[2]);
  std::printf(" .x = {%.9g, %.9g, %.9g}, .energy = %.10g},\n", x[0], x[1], x[2], f.kinetic_energy());
}

}  // namespace

int main() {
  Fluid f;
  std::puts(
      "// Printed by tests/reference/sph.cpp. Density, force and x: those of the first particle. Energy: the kinetic energy.");
  for (int step = 1; step <= 10; ++step) {
    f.make_step();
    if (step == 1 || step == 10) print(step, f);
  }
}
