// The loops of components.cpp in plain C++, compiled with -O3 -march=native and no contraction.
#include "tests/bench/components_loops.h"

#include <cmath>

void normalised_by_hand(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float *r = x + 3 * i, length = std::sqrt(r[0] * r[0] + r[2] * r[2] + r[1] * r[1]);
    for (int k = 0; k < 3; ++k) y[3 * i + k] = r[k] / length;
  }
}

void scaled_by_hand(const float* __restrict x, const float* __restrict s, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) y[3 * i + k] = x[3 * i + k] * s[i];
}

void complex_by_hand(const float* __restrict a, const float* __restrict b, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    y[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
  }
}

static void row_by_matrix(const float* __restrict x, const float* __restrict m, float* __restrict y) {
  for (int k = 0; k < 3; ++k) {
    float sum = 0;
    for (int j = 0; j < 3; ++j) sum = std::fma(x[j], m[3 * j + k], sum);
    y[k] = sum;
  }
}

void turned_by_hand(const float* __restrict x, const float* __restrict m, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) row_by_matrix(x + 3 * i, m, y + 3 * i);
}

void products_by_hand(const float* __restrict a, const float* __restrict b, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (int row = 0; row < 3; ++row) row_by_matrix(a + 9 * i + 3 * row, b + 9 * i, y + 9 * i + 3 * row);
}

void density_by_hand(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float dx = x[3 * i] - x[3 * j], dy = x[3 * i + 1] - x[3 * j + 1], dz = x[3 * i + 2] - x[3 * j + 2];
      const float left = 1.0f - (dx * dx + dz * dz + dy * dy), near = left < 0 ? 0 : left;
      sum += near * near * near;
    }
    y[j] = sum;
  }
}
