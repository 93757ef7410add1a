#include "plain.h"

#include <algorithm>
#include <cmath>

namespace plain {
namespace {

constexpr float taps[7] = {0.03125f, 0.109375f, 0.21875f, 0.28125f, 0.21875f, 0.109375f, 0.03125f};

std::int64_t clamp(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }

void to_grey(const float* in, float* grey, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) grey[i] = 0.2126f * in[3 * i] + 0.7152f * in[3 * i + 1] + 0.0722f * in[3 * i + 2];
}

}  // namespace

void zone_plate(float* out, std::int64_t h, std::int64_t w) {
  const float scale = 3.14159265f / static_cast<float>(w);
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const float dy = static_cast<float>(y) - 0.5f * static_cast<float>(h),
                  dx = static_cast<float>(x) - 0.5f * static_cast<float>(w);
      const float r2 = (dx * dx + dy * dy) * scale;
      for (std::int64_t c = 0; c < 3; ++c)
        out[(y * w + x) * 3 + c] = 0.5f + 0.5f * std::cos(r2 * (1.0f + 0.03f * static_cast<float>(c)));
    }
}

void srgb_to_linear(const std::uint8_t* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float c = static_cast<float>(in[i]) / 255.0f;
    out[i] = c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
  }
}

void linear_to_srgb(const float* in, std::uint8_t* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float c = std::clamp(in[i], 0.0f, 1.0f);
    const float s = c <= 0.0031308f ? c * 12.92f : 1.055f * std::pow(c, 1.0f / 2.4f) - 0.055f;
    out[i] = static_cast<std::uint8_t>(std::nearbyint(s * 255.0f));
  }
}

void gaussian_blur(const float* in, float* tmp, float* out, std::int64_t h, std::int64_t w) {
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < 3 * w; ++x) {
      float s = 0;
      for (std::int64_t k = 0; k < 7; ++k) s += taps[k] * in[clamp(y + k - 3, h) * 3 * w + x];
      tmp[y * 3 * w + x] = s;
    }
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        float s = 0;
        for (std::int64_t k = 0; k < 7; ++k) s += taps[k] * tmp[(y * w + clamp(x + k - 3, w)) * 3 + c];
        out[(y * w + x) * 3 + c] = s;
      }
}

void unsharp_mask(const float* in, float* tmp, float* blurred, float* out, std::int64_t h, std::int64_t w) {
  gaussian_blur(in, tmp, blurred, h, w);
  for (std::int64_t i = 0; i < 3 * h * w; ++i) out[i] = std::clamp(in[i] + 1.5f * (in[i] - blurred[i]), 0.0f, 1.0f);
}

void sobel(const float* in, float* grey, float* out, std::int64_t h, std::int64_t w) {
  to_grey(in, grey, h * w);
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const float* r0 = grey + clamp(y - 1, h) * w;
      const float* r1 = grey + y * w;
      const float* r2 = grey + clamp(y + 1, h) * w;
      const std::int64_t a = clamp(x - 1, w), b = clamp(x + 1, w);
      const float gx = (r0[b] - r0[a]) + 2.0f * (r1[b] - r1[a]) + (r2[b] - r2[a]);
      const float gy = (r2[a] - r0[a]) + 2.0f * (r2[x] - r0[x]) + (r2[b] - r0[b]);
      out[y * w + x] = std::sqrt(gx * gx + gy * gy);
    }
}

void half_size(const float* in, float* out, std::int64_t h, std::int64_t w) {
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const float* p = in + (2 * y * 2 * w + 2 * x) * 3 + c;
        out[(y * w + x) * 3 + c] = 0.25f * (p[0] + p[3] + p[6 * w] + p[6 * w + 3]);
      }
}

void local_contrast(const float* in, float* grey, float* tmp, float* out, std::int64_t h, std::int64_t w) {
  constexpr std::int64_t r = 4;
  constexpr float weight = 1.0f / 81.0f;
  to_grey(in, grey, h * w);
  float* sum = tmp;
  float* square = tmp + h * w;
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      float s = 0, q = 0;
      for (std::int64_t k = -r; k <= r; ++k) {
        const float v = grey[clamp(y + k, h) * w + x];
        s += v;
        q += v * v;
      }
      sum[y * w + x] = s;
      square[y * w + x] = q;
    }
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      float s = 0, q = 0;
      for (std::int64_t k = -r; k <= r; ++k) {
        s += sum[y * w + clamp(x + k, w)];
        q += square[y * w + clamp(x + k, w)];
      }
      const float mean = s * weight, variance = std::max(q * weight - mean * mean, 0.0f);
      out[y * w + x] = 0.5f + 0.2f * (grey[y * w + x] - mean) / (std::sqrt(variance) + 0.02f);
    }
}

void network(const float* x, const float* w1, const float* b1, const float* w2, const float* b2, float* hidden, float* y,
             std::int64_t m) {
  constexpr std::int64_t in = 192, mid = 64, classes = 10;
  for (std::int64_t i = 0; i < m; ++i) {
    float* h = hidden + i * mid;
    for (std::int64_t j = 0; j < mid; ++j) h[j] = b1[j];
    for (std::int64_t k = 0; k < in; ++k)
      for (std::int64_t j = 0; j < mid; ++j) h[j] += x[i * in + k] * w1[k * mid + j];
    for (std::int64_t j = 0; j < mid; ++j) h[j] = std::max(h[j], 0.0f);
    float* o = y + i * classes;
    for (std::int64_t j = 0; j < classes; ++j) o[j] = b2[j];
    for (std::int64_t k = 0; k < mid; ++k)
      for (std::int64_t j = 0; j < classes; ++j) o[j] += h[k] * w2[k * classes + j];
    float top = o[0], total = 0;
    for (std::int64_t j = 1; j < classes; ++j) top = std::max(top, o[j]);
    for (std::int64_t j = 0; j < classes; ++j) total += o[j] = std::exp(o[j] - top);
    for (std::int64_t j = 0; j < classes; ++j) o[j] /= total;
  }
}

}  // namespace plain
