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

void forces_by_hand(const float* __restrict x, const float* __restrict y, const float* __restrict z, float* __restrict ax,
                    float* __restrict ay, float* __restrict az, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    float sx = 0, sy = 0, sz = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float d = dx * dx + dy * dy + dz * dz + 1e-4f;
      const float s = 1.0f / (d * __builtin_sqrtf(d));
      sx += dx * s;
      sy += dy * s;
      sz += dz * s;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}
