// The state of the fluid, and a function that makes a step.
#pragma once

#include <fluid_kernels/step.h>

#include <cstdint>
#include <vector>

#include "../common/check.h"

struct fluid {
  using field = std::vector<float>;
  std::int64_t n, m;
  float projection;  // 1/2 makes the differences of divergence and Laplacian agree; other programs use 1
  int cycles;        // number of cycles for the pressure
  field vx, vy, density, old_vx, old_vy, old_density, pressure, divergence, curl, residual, f0, p0, f1, p1;

  fluid(std::int64_t rows, std::int64_t columns, float projection_ = 0.5f, int cycles_ = 1)
      : n(rows), m(columns), projection(projection_), cycles(cycles_) {
    for (field* f : {&vx, &vy, &density, &old_vx, &old_vy, &old_density, &pressure, &divergence, &curl, &residual})
      f->resize(static_cast<std::size_t>(n * m));
    for (field* f : {&f0, &p0}) f->resize(static_cast<std::size_t>((n / 2) * (m / 2)));
    for (field* f : {&f1, &p1}) f->resize(static_cast<std::size_t>((n / 4) * (m / 4)));
  }

  // mouse: column, row, change of velocity x and y, density.
  void step(const float (&mouse)[5], float confinement, float decay, const kiln::context& with) {
    constexpr auto any = kiln::dynamic_extent;
    vx.swap(old_vx);
    vy.swap(old_vy);
    density.swap(old_density);
    const auto in = [](const field& f, std::int64_t h, std::int64_t w) {
      return kiln::view<const float, any, any>(f.data(), h, w);
    };
    const auto out = [](field& f, std::int64_t h, std::int64_t w) { return kiln::view<float, any, any>(f.data(), h, w); };
    check(fluid_kernels::step(in(old_vx, n, m), in(old_vy, n, m), in(old_density, n, m), mouse, 1.0f, confinement, decay, decay,
                              projection, cycles, out(vx, n, m), out(vy, n, m), out(density, n, m), out(pressure, n, m),
                              out(divergence, n, m), out(curl, n, m), out(residual, n, m), out(f0, n / 2, m / 2),
                              out(p0, n / 2, m / 2), out(f1, n / 4, m / 4), out(p1, n / 4, m / 4), with));
  }
};
