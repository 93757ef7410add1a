// The loops of workgroups.cpp in plain C++, one row or block at a time, compiled with -O3 -march=native and no contraction.
#include "tests/bench/workgroups.h"

namespace {

constexpr std::int64_t points = 1024, block = 256, side = 16;

std::int64_t reversed(std::int64_t k) {
  std::int64_t r = 0;
  for (std::int64_t bit = 1; bit < points; bit *= 2) r = 2 * r + ((k & bit) != 0);
  return r;
}

}  // namespace

void transforms_by_hand(const float* __restrict x, float sign, const float* __restrict w, float* __restrict y,
                        std::int64_t rows) {
  std::int64_t from[points];
  for (std::int64_t k = 0; k < points; ++k) from[k] = reversed(k);
  for (std::int64_t row = 0; row < rows; ++row, x += 2 * points, y += 2 * points) {
    float re[points], im[points];
    for (std::int64_t k = 0; k < points; ++k) {
      re[k] = x[2 * from[k]];
      im[k] = x[2 * from[k] + 1];
    }
    for (std::int64_t half = 1; half < points; half *= 2)
      for (std::int64_t first = 0; first < points; first += 2 * half)
        for (std::int64_t low = 0; low < half; ++low) {
          const std::int64_t k = first + low, l = k + half;
          const float c = w[half + low], d = sign * w[points + half + low];
          const float tr = c * re[l] - d * im[l], ti = c * im[l] + d * re[l], ur = re[k], ui = im[k];
          re[k] = ur + tr;
          im[k] = ui + ti;
          re[l] = ur - tr;
          im[l] = ui - ti;
        }
    for (std::int64_t k = 0; k < points; ++k) {
      y[2 * k] = re[k];
      y[2 * k + 1] = im[k];
    }
  }
}

void transpose_by_hand(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += side)
    for (std::int64_t j = 0; j < n; j += side)
      for (std::int64_t a = 0; a < side; ++a)
        for (std::int64_t b = 0; b < side; ++b) y[(j + a) * n + i + b] = x[(i + b) * n + j + a];
}

void sums_by_hand(const int* __restrict x, int* __restrict y, std::int64_t n) {
  for (std::int64_t first = 0; first < n; first += block) {
    int s[block], before[block];
    for (std::int64_t k = 0; k < block; ++k) s[k] = x[first + k];
    for (std::int64_t distance = 1; distance < block; distance *= 2) {
      for (std::int64_t k = 0; k < block; ++k) before[k] = k >= distance ? s[k - distance] : 0;
      for (std::int64_t k = 0; k < block; ++k) s[k] += before[k];
    }
    for (std::int64_t k = 0; k < block; ++k) y[first + k] = s[k];
  }
}

void halvings_by_hand(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t first = 0; first < n; first += block) {
    float s[block];
    for (std::int64_t k = 0; k < block; ++k) s[k] = x[first + k];
    for (std::int64_t half = block / 2; half > 0; half /= 2)
      for (std::int64_t k = 0; k < half; ++k) s[k] += s[k + half];
    y[first / block] = s[0];
  }
}
