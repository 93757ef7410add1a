// The loops of control.cpp in plain C++, one iteration at a time, compiled with -O3 -march=native and no contraction.
#include <cstdint>

#include "tests/bench/control.h"

void mandelbrot_by_hand(float x0, float y0, float dx, int limit, int* image, std::int64_t h, std::int64_t w) {
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const float cx = x0 + dx * static_cast<float>(x), cy = y0 + dx * static_cast<float>(y);
      float zx = 0, zy = 0;
      int n = 0;
      for (int k = 0; k < limit; ++k) {
        const float x2 = zx * zx, y2 = zy * zy;
        if (x2 + y2 > 4.0f) break;
        zy = 2.0f * zx * zy + cy;
        zx = x2 - y2 + cx;
        n = k + 1;
      }
      image[y * w + x] = n;
    }
}

// The loop over i is the inner one, so that the C++ compiler can vectorise it without reordering operations.
template <bool as_tensors>
static void step(float* __restrict x, float* __restrict v, std::int64_t n) {
  constexpr std::int64_t block = 64;
  const float *px = x, *py = x + n, *pz = x + 2 * n;
  for (std::int64_t first = 0; first < n; first += block) {
    float fx[block] = {}, fy[block] = {}, fz[block] = {};
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < block; ++i) {
        const float dx = px[first + i] - px[j], dy = py[first + i] - py[j], dz = pz[first + i] - pz[j];
        const float square = as_tensors ? dx * dx + dz * dz + dy * dy : dx * dx + dy * dy + dz * dz;
        const float d2 = square + 1e-4f, s = 1.0f / (d2 * __builtin_sqrtf(d2));
        fx[i] -= dx * s;
        fy[i] -= dy * s;
        fz[i] -= dz * s;
      }
    for (std::int64_t i = 0; i < block; ++i) {
      v[first + i] += 0.001f * fx[i];
      v[n + first + i] += 0.001f * fy[i];
      v[2 * n + first + i] += 0.001f * fz[i];
    }
  }
  for (std::int64_t i = 0; i < 3 * n; ++i) x[i] += 0.001f * v[i];
}

void bodies_by_hand(float* x, float* v, std::int64_t n) { step<false>(x, v, n); }
void bodies_by_hand_as_tensors(float* x, float* v, std::int64_t n) { step<true>(x, v, n); }
