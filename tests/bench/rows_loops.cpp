// The loops that rows.cpp compares with: plain C++, as one writes it first.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bench/rows_loops.h"

void softmax_by_hand(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t i = 0; i < rows; ++i, x += n, y += n) {
    float most = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < n; ++j) most = std::max(most, x[j]);
    for (std::int64_t j = 0; j < n; ++j) sum += y[j] = std::exp(x[j] - most);
    for (std::int64_t j = 0; j < n; ++j) y[j] /= sum;
  }
}

void layer_norm_by_hand(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t i = 0; i < rows; ++i, x += n, y += n) {
    float sum = 0, squares = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += x[j];
    const float mean = sum / static_cast<float>(n);
    for (std::int64_t j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
    const float factor = 1 / std::sqrt(squares / static_cast<float>(n) + 1e-5F);
    for (std::int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * factor * scale[j] + shift[j];
  }
}

void argmax_by_hand(const float* x, std::int32_t* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t i = 0; i < rows; ++i, x += n) y[i] = static_cast<std::int32_t>(std::max_element(x, x + n) - x);
}

void product_by_hand(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i, a += k, c += n) {
    std::fill(c, c + n, 0.0F);
    for (std::int64_t r = 0; r < k; ++r)
      for (std::int64_t j = 0; j < n; ++j) c[j] += a[r] * b[r * n + j];
  }
}

void gelu_layer_by_hand(const float* a, const float* b, const float* bias, float* y, std::int64_t m, std::int64_t k,
                        std::int64_t n) {
  product_by_hand(a, b, y, m, k, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const float x = y[i * n + j] + bias[j];
      y[i * n + j] = 0.5F * x * (1 + std::erf(x * 0.70710678F));
    }
}

void attention_by_hand(const float* q, const float* k, const float* v, float* y, std::int64_t m, std::int64_t n,
                       std::int64_t d) {
  std::vector<float> scores(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t r = 0; r < d; ++r) sum += q[i * d + r] * k[j * d + r];
      scores[static_cast<std::size_t>(j)] = sum * 0.125F;
    }
    softmax_by_hand(scores.data(), scores.data(), 1, n);
    product_by_hand(scores.data(), v, y + i * d, 1, n, d);
  }
}

void blur_sobel_by_hand(const float* x, float* y, std::int64_t h, std::int64_t w) {
  std::vector<float> blurred(static_cast<std::size_t>(h * w));
  const auto clamped = [](std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); };
  const auto at = [&](const float* p, std::int64_t i, std::int64_t j) { return p[clamped(i, h) * w + clamped(j, w)]; };
  const float blur[] = {.25F, .5F, .25F};
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < w; ++j) {
      float sum = 0;
      for (std::int64_t a = 0; a < 3; ++a)
        for (std::int64_t b = 0; b < 3; ++b) sum += blur[a] * blur[b] * at(x, i + a - 1, j + b - 1);
      blurred[static_cast<std::size_t>(i * w + j)] = sum;
    }
  const float *s = blurred.data(), smooth[] = {1, 2, 1}, slope[] = {-1, 0, 1};
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < w; ++j) {
      float gx = 0, gy = 0;
      for (std::int64_t a = 0; a < 3; ++a)
        for (std::int64_t b = 0; b < 3; ++b) {
          const float p = at(s, i + a - 1, j + b - 1);
          gx += smooth[a] * slope[b] * p;
          gy += slope[a] * smooth[b] * p;
        }
      y[i * w + j] = std::sqrt(gx * gx + gy * gy);
    }
}
