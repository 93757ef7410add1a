// Prints the table that tests/golden/examples/nbody_test.cpp reads: 100 steps of the 64 bodies of examples/nbody, computed in
// f64.
//
// Each body has the mass 1, and the gravitational constant is 1. Body i feels the softened force of every other body j:
//
//   force(i) = sum over j of (x(j) - x(i)) / (|x(j) - x(i)|^2 + e)^(3/2), e = 1e-4
//
// (H. C. Plummer, "On the problem of distribution in globular star clusters", Monthly Notices of the RAS 71, 1911; S. J.
// Aarseth, "Gravitational N-Body Simulations", section 2.2). A step of length 0.001 is the symplectic Euler method: first the
// velocities change by the forces, then the positions by the new velocities.
//
// Coordinate k of body i starts at 5 sin(1.7 i + 2.3 k + 0.1 i k). All velocities start at 0.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace {

constexpr std::size_t bodies = 64;
constexpr double softening = 1e-4, step_length = 0.001;

using Vector = std::array<double, 3>;
using Vectors = std::array<Vector, bodies>;

Vector force_on(const Vectors& x, std::size_t i) {
  Vector force{};
  for (std::size_t j = 0; j < bodies; ++j) {
    double square = softening;
    for (std::size_t k = 0; k < 3; ++k) square += std::pow(x[j][k] - x[i][k], 2);
    for (std::size_t k = 0; k < 3; ++k) force[k] += (x[j][k] - x[i][k]) / std::pow(square, 1.5);
  }
  return force;
}

}  // namespace

int main() {
  Vectors x{}, v{};
  for (std::size_t i = 0; i < bodies; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto body = static_cast<double>(i), axis = static_cast<double>(k);
      x[i][k] = 5 * std::sin(1.7 * body + 2.3 * axis + 0.1 * body * axis);
    }
  for (int step = 0; step < 100; ++step) {
    for (std::size_t i = 0; i < bodies; ++i) {
      const Vector force = force_on(x, i);
      for (std::size_t k = 0; k < 3; ++k) v[i][k] += step_length * force[k];
    }
    for (std::size_t i = 0; i < bodies; ++i)
      for (std::size_t k = 0; k < 3; ++k) x[i][k] += step_length * v[i][k];
  }
  double energy = 0;
  for (const Vector& speed : v)
    for (const double component : speed) energy += component * component / 2;
  std::puts("// Printed by tests/reference/nbody.cpp. x and v: those of the first body. Energy: the kinetic energy of all.");
  std::printf(".x = {%.12f, %.12f, %.12f}, .v = {%.12f, %.12f, %.12f}, .energy = %.12f\n", x[0][0], x[0][1], x[0][2], v[0][0],
              v[0][1], v[0][2], energy);
}
