// The initial state, two bumps at rest, and a function that makes steps.
#pragma once

#include <wave_kernels/steps.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "../common/check.h"

struct wave {
  std::int64_t n = 256, m = 512;
  std::vector<float> u, v;

  wave() : u(static_cast<std::size_t>(n * m)), v(u.size()) {
    const auto bump = [](double i, double j, double row, double column) {
      return std::exp(-((j - column) * (j - column) + (i - row) * (i - row)) / 100);
    };
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        const auto y = static_cast<double>(i), x = static_cast<double>(j);
        u[static_cast<std::size_t>(i * m + j)] = static_cast<float>(bump(y, x, 78, 256) + bump(y, x, 178, 306));
      }
  }

  void steps(int count, const kiln::context& with) {
    constexpr auto any = kiln::dynamic_extent;
    const auto view = [&](std::vector<float>& f) { return kiln::view<float, any, any>(f.data(), n, m); };
    check(wave_kernels::steps(count, view(u), view(v), with));
  }
};
