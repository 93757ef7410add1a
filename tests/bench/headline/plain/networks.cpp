// Parts of networks, and their training, in plain C++.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bench/headline/bench.h"
#include "tests/bench/headline/plain/dense.h"

namespace kiln::headline {
namespace {

float logistic_of(float x) { return 1 / (1 + std::exp(-x)); }

// Blocks of rows, so that a row of w that is loaded serves several of them.
void add_products(const float* x, const float* w, float* y, std::int64_t m, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t block = 256;
  for (std::int64_t first = 0; first < n; first += block)
    for (std::int64_t i = 0; i < m; ++i) add_product(x + i * k, w + first, y + i * n + first, k, std::min(block, n - first), n);
}
// Sixteen sums beside each other, which a compiler may keep in a vector.
float dot(const float* a, const float* b, std::int64_t n) {
  float s[16] = {};
  for (std::int64_t i = 0; i + 16 <= n; i += 16)
    for (std::int64_t j = 0; j < 16; ++j) s[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (const float x : s) sum += x;
  for (std::int64_t i = n / 16 * 16; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
job decode(problem& p) {
  return {[&p] {
    const std::int64_t s = p.e(1), d = p.e(2);
    std::vector<float> score(static_cast<std::size_t>(s));
    for (std::int64_t h = 0; h < p.e(0); ++h) {
      const float *q = p.in[0].f() + h * d, *k = p.in[1].f() + h * s * d, *v = p.in[2].f() + h * s * d;
      for (std::int64_t i = 0; i < s; ++i) score[static_cast<std::size_t>(i)] = 0.125f * dot(q, k + i * d, d);
      softmax(score.data(), s);
      float* y = p.result() + h * d;
      std::fill(y, y + d, 0.0f);
      add_product(score.data(), v, y, s, d, d);
    }
  }};
}
job causal_attention(problem& p) {
  return {[&p] {
    const std::int64_t s = p.e(1), d = p.e(2);
    std::vector<float> keys(static_cast<std::size_t>(s * d)), score(static_cast<std::size_t>(s));
    for (std::int64_t head = 0; head < p.e(0); ++head) {
      const float *q = p.in[0].f() + head * s * d, *k = p.in[1].f() + head * s * d, *v = p.in[2].f() + head * s * d;
      for (std::int64_t i = 0; i < s; ++i)
        for (std::int64_t j = 0; j < d; ++j) keys[static_cast<std::size_t>(j * s + i)] = k[i * d + j] * 0.125f;
      for (std::int64_t i = 0; i < s; ++i) {
        std::fill(score.begin(), score.end(), 0.0f);
        add_product(q + i * d, keys.data(), score.data(), d, i + 1, s);
        softmax(score.data(), i + 1);
        float* y = p.result() + (head * s + i) * d;
        std::fill(y, y + d, 0.0f);
        add_product(score.data(), v, y, i + 1, d, d);
      }
    }
  }};
}

job gru_cell(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(0), n = p.e(2);
    const float *b = p.in[4].f(), *h = p.in[1].f();
    std::vector<float> a(static_cast<std::size_t>(3 * m * n)), c(a.size(), 0.0f);
    for (std::int64_t i = 0; i < m; ++i) std::copy(b, b + 3 * n, a.data() + i * 3 * n);
    add_products(p.in[0].f(), p.in[2].f(), a.data(), m, p.e(1), 3 * n);
    add_products(h, p.in[3].f(), c.data(), m, n, 3 * n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float *g = a.data() + i * 3 * n + j, *f = c.data() + i * 3 * n + j;
        const float r = logistic_of(g[0] + f[0]), z = logistic_of(g[n] + f[n]);
        p.result()[i * n + j] = (1 - z) * std::tanh(g[2 * n] + r * f[2 * n]) + z * h[i * n + j];
      }
  }};
}

job cross_entropy(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(1);
    float total = 0;
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const float* x = p.in[0].f() + i * n;
      float most = x[0], sum = 0;
      for (std::int64_t j = 1; j < n; ++j) most = x[j] > most ? x[j] : most;
      for (std::int64_t j = 0; j < n; ++j) sum += std::exp(x[j] - most);
      total += std::log(sum) + most - x[p.in[1].as<std::int32_t>()[i]];
    }
    *p.result() = total / static_cast<float>(p.e(0));
  }};
}
job rms_norm(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(1);
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const float *x = p.in[0].f() + i * n, *scale = p.in[1].f();
      float* __restrict y = p.result() + i * n;
      const float factor = 1 / std::sqrt(dot(x, x, n) / static_cast<float>(n) + 1e-5f);
      for (std::int64_t j = 0; j < n; ++j) y[j] = x[j] * factor * scale[j];
    }
  }};
}
job swiglu(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(0), k = p.e(1), n = p.e(2);
    std::vector<float> a(static_cast<std::size_t>(m * n), 0.0f), b(a);
    add_products(p.in[0].f(), p.in[1].f(), a.data(), m, k, n);
    add_products(p.in[0].f(), p.in[2].f(), b.data(), m, k, n);
    for (std::size_t i = 0; i < a.size(); ++i) p.result()[i] = a[i] * logistic_of(a[i]) * b[i];
  }};
}
job adam(problem& p) {
  return {[&p] {
    const float* g = p.in[0].f();
    float* __restrict w = p.out[0].as<float>(), * __restrict m = p.out[1].as<float>(), * __restrict v = p.out[2].as<float>();
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      m[i] = 0.9f * m[i] + 0.1f * g[i];
      v[i] = 0.999f * std::abs(v[i]) + 0.001f * (g[i] * g[i]);
      w[i] -= 0.001f * m[i] / (std::sqrt(v[i]) + 1e-8f);
    }
  }};
}
job logistic(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(1);
    float* __restrict y = p.result();
    std::fill(y, y + n, 0.0f);
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const float* x = p.in[0].f() + i * n;
      const float error = logistic_of(dot(x, p.in[2].f(), n)) - p.in[1].f()[i];
      for (std::int64_t j = 0; j < n; ++j) y[j] += error * x[j];
    }
  }};
}

const peers here{
    {"decode", "f32", "", decode},     {"causal_attention", "f32", "", causal_attention},
    {"gru_cell", "f32", "", gru_cell}, {"cross_entropy", "f32", "", cross_entropy},
    {"rms_norm", "f32", "", rms_norm}, {"swiglu", "f32", "", swiglu},
    {"adam", "f32", "", adam},         {"logistic", "f32", "", logistic},
};

}  // namespace
}  // namespace kiln::headline
