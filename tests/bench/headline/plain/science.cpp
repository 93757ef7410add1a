// Formulas, stencils and statistics in plain C++.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

float normal(float x) { return 0.5f * (1 + std::erf(x * 0.70710678f)); }
job black_scholes(problem& p) {
  return {[&p] {
    const float *s = p.in[0].f(), *k = p.in[1].f(), *t = p.in[2].f();
    float* __restrict call = p.out[0].as<float>(), * __restrict put = p.out[1].as<float>();
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const float price = s[i] + 2, strike = k[i] + 2, years = t[i] + 1.5f, root = 0.3f * std::sqrt(years);
      const float d1 = (std::log(price / strike) + 0.065f * years) / root, d2 = d1 - root;
      const float paid = strike * std::exp(-0.02f * years);
      call[i] = price * normal(d1) - paid * normal(d2);
      put[i] = paid * normal(-d2) - price * normal(-d1);
    }
  }};
}
job heat(problem& p) {
  return {[&p] {
    const std::int64_t l = p.e(0), h = p.e(1), w = p.e(2);
    for (std::int64_t z = 0; z < l; ++z)
      for (std::int64_t y = 0; y < h; ++y) {
        const float* x = p.in[0].f() + (z * h + y) * w;
        const float *back = z > 0 ? x - h * w : x, *front = z + 1 < l ? x + h * w : x;
        const float *up = y > 0 ? x - w : x, *down = y + 1 < h ? x + w : x;
        float* __restrict r = p.result() + (z * h + y) * w;
        const auto at = [=](std::int64_t j, std::int64_t before, std::int64_t after) {
          return x[j] + 0.1f * (back[j] + front[j] + up[j] + down[j] + x[before] + x[after] - 6 * x[j]);
        };
        r[0] = at(0, 0, 1);
        for (std::int64_t j = 1; j + 1 < w; ++j) r[j] = at(j, j - 1, j + 1);
        r[w - 1] = at(w - 1, w - 2, w - 1);
      }
  }};
}
// Columns into one row that has a border of 3, then along that row.
job blur(problem& p) {
  return {[&p] {
    const std::int64_t h = p.e(0), w = p.e(1);
    std::vector<float> row(static_cast<std::size_t>(w + 6));
    const auto filtered = [](auto const& at) {
      return 0.05f * (at(0) + at(6)) + 0.1f * (at(1) + at(5)) + 0.2f * (at(2) + at(4)) + 0.3f * at(3);
    };
    for (std::int64_t i = 0; i < h; ++i) {
      const float* x[7];
      for (std::int64_t k = 0; k < 7; ++k) x[k] = p.in[0].f() + std::clamp<std::int64_t>(i + k - 3, 0, h - 1) * w;
      float* __restrict t = row.data(), * __restrict y = p.result() + i * w;
      for (std::int64_t j = 0; j < w; ++j) t[j + 3] = filtered([&](int k) { return x[k][j]; });
      std::fill(t, t + 3, t[3]);
      std::fill(t + w + 3, t + w + 6, t[w + 2]);
      for (std::int64_t j = 0; j < w; ++j) y[j] = filtered([&](int k) { return t[j + k]; });
    }
  }};
}
job rgb_to_yuv(problem& p) {
  return {[&p] {
    const auto* x = p.in[0].as<const std::uint8_t>();
    std::uint8_t* __restrict out[3];
    for (std::size_t i = 0; i < 3; ++i) out[i] = p.out[i].as<std::uint8_t>();
    for (std::int64_t i = 0; i < p.e(0) * p.e(1); ++i) {
      const int r = x[3 * i], g = x[3 * i + 1], b = x[3 * i + 2];
      out[0][i] = static_cast<std::uint8_t>(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
      out[1][i] = static_cast<std::uint8_t>(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
      out[2][i] = static_cast<std::uint8_t>(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
    }
  }};
}
job moments(problem& p) {
  return {[&p] {
    const float* x = p.in[0].f();
    float* __restrict mean = p.out[0].as<float>(), * __restrict variance = p.out[1].as<float>();
    const std::int64_t m = p.e(0), n = p.e(1);
    const float size = static_cast<float>(m);
    std::fill(mean, mean + n, 0.0f);
    std::fill(variance, variance + n, 0.0f);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) mean[j] += x[i * n + j];
    for (std::int64_t j = 0; j < n; ++j) mean[j] /= size;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) variance[j] += (x[i * n + j] - mean[j]) * (x[i * n + j] - mean[j]);
    for (std::int64_t j = 0; j < n; ++j) variance[j] /= size;
  }};
}
job softmax_columns(problem& p) {
  return {[&p] {
    const float* x = p.in[0].f();
    float* __restrict y = p.result();
    const std::int64_t m = p.e(0), n = p.e(1);
    std::vector<float> most(x, x + n), sum(most.size(), 0.0f);
    for (std::int64_t i = 1; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float& s = most[static_cast<std::size_t>(j)];
        s = x[i * n + j] > s ? x[i * n + j] : s;
      }
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) y[i * n + j] = std::exp(x[i * n + j] - most[static_cast<std::size_t>(j)]);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) sum[static_cast<std::size_t>(j)] += y[i * n + j];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) y[i * n + j] /= sum[static_cast<std::size_t>(j)];
  }};
}
// Rows of b as columns, so that the inner loop runs over results.
job cosine(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(0), n = p.e(1), k = p.e(2);
    const float *a = p.in[0].f(), *b = p.in[1].f();
    std::vector<float> columns(static_cast<std::size_t>(n * k)), length(static_cast<std::size_t>(n), 0.0f);
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j) columns[static_cast<std::size_t>(l * n + j)] = b[j * k + l];
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j) {
        const float x = columns[static_cast<std::size_t>(l * n + j)];
        length[static_cast<std::size_t>(j)] += x * x;
      }
    for (float& x : length) x = std::sqrt(x);
    for (std::int64_t i = 0; i < m; ++i) {
      float* __restrict y = p.result() + i * n;
      float square = 0;
      std::fill(y, y + n, 0.0f);
      for (std::int64_t l = 0; l < k; ++l) square += a[i * k + l] * a[i * k + l];
      for (std::int64_t l = 0; l < k; ++l)
        for (std::int64_t j = 0; j < n; ++j) y[j] += a[i * k + l] * columns[static_cast<std::size_t>(l * n + j)];
      for (std::int64_t j = 0; j < n; ++j) y[j] /= std::sqrt(square) * length[static_cast<std::size_t>(j)];
    }
  }};
}
job matvec_t(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(1);
    float* __restrict y = p.result();
    std::fill(y, y + n, 0.0f);
    for (std::int64_t i = 0; i < p.e(0); ++i)
      for (std::int64_t j = 0; j < n; ++j) y[j] += p.in[1].f()[i] * p.in[0].f()[i * n + j];
  }};
}

const peers here{
    {"black_scholes", "f32", "", black_scholes},
    {"heat", "f32", "", heat},
    {"blur", "f32", "", blur},
    {"rgb_to_yuv", "u8", "", rgb_to_yuv},
    {"moments", "f32", "", moments},
    {"softmax_columns", "f32", "", softmax_columns},
    {"cosine", "f32", "", cosine},
    {"matvec_t", "f32", "", matvec_t},
};

}  // namespace
}  // namespace kiln::headline
