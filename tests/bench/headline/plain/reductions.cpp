// Reductions in plain C++.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

job total(problem& p) {
  return {[&p] {
    float s = 0;
    for (std::int64_t i = 0; i < p.e(0); ++i) s += p.in[0].f()[i];
    *p.result() = s;
  }};
}
job lowest(problem& p) {
  return {[&p] {
    const float* x = p.in[0].f();
    float s = x[0];
    for (std::int64_t i = 1, n = p.e(0); i < n; ++i) s = x[i] < s ? x[i] : s;
    *p.result() = s;
  }};
}
template <class Before>
std::int64_t first_of(const float* x, std::int64_t n, Before before) {
  std::int64_t best = 0;
  float most = x[0];
  for (std::int64_t i = 1; i < n; ++i)
    if (before(x[i], most)) most = x[i], best = i;
  return best;
}
job argmax_all(problem& p) {
  return {[&p] { *p.out[0].as<std::int64_t>() = first_of(p.in[0].f(), p.e(0), [](float a, float b) { return a > b; }); }};
}
job argmin_rows(problem& p) {
  return {[&p] {
    for (std::int64_t i = 0; i < p.e(0); ++i)
      p.out[0].as<std::int64_t>()[i] = first_of(p.in[0].f() + i * p.e(1), p.e(1), [](float a, float b) { return a < b; });
  }};
}
job prefix_sum(problem& p) {
  return {[&p] {
    const float* x = p.in[0].f();
    float *y = p.result(), s = 0;
    for (std::int64_t i = 0, n = p.e(0); i < n; ++i) y[i] = s += x[i];
  }};
}
template <class T>
job dot_product(problem& p) {
  return {[&p] {
    const T *a = p.in[0].as<T>(), *b = p.in[1].as<T>();
    T s = 0;
    for (std::int64_t i = 0, n = p.e(0); i < n; ++i) s += a[i] * b[i];
    *p.out[0].as<T>() = s;
  }};
}
job softmax_rows(problem& p) {
  return {[&p] {
    const float* x = p.in[0].f();
    float* y = p.result();
    const std::int64_t n = p.e(1);
    for (std::int64_t i = 0; i < p.e(0); ++i, x += n, y += n) {
      float most = x[0], sum = 0;
      for (std::int64_t j = 1; j < n; ++j) most = x[j] > most ? x[j] : most;
      for (std::int64_t j = 0; j < n; ++j) y[j] = std::exp(x[j] - most);
      for (std::int64_t j = 0; j < n; ++j) sum += y[j];
      const float factor = 1 / sum;
      for (std::int64_t j = 0; j < n; ++j) y[j] *= factor;
    }
  }};
}
job layer_norm_rows(problem& p) {
  return {[&p] {
    const float *x = p.in[0].f(), *scale = p.in[1].f(), *shift = p.in[2].f();
    float* y = p.result();
    const std::int64_t n = p.e(1);
    for (std::int64_t i = 0; i < p.e(0); ++i, x += n, y += n) {
      float sum = 0, squares = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += x[j];
      const float mean = sum / static_cast<float>(n);
      for (std::int64_t j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
      const float factor = 1 / std::sqrt(squares / static_cast<float>(n) + 1e-5f);
      for (std::int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * factor * scale[j] + shift[j];
    }
  }};
}
template <class Combine>
void columns(const problem& p, Combine combine) {
  const float* x = p.in[0].f();
  float* __restrict y = p.result();
  const std::int64_t n = p.e(1);
  std::copy(x, x + n, y);
  for (std::int64_t i = 1; i < p.e(0); ++i)
    for (std::int64_t j = 0; j < n; ++j) y[j] = combine(y[j], x[i * n + j]);
}
job sum_columns(problem& p) {
  return {[&p] { columns(p, [](float a, float b) { return a + b; }); }};
}
job max_columns(problem& p) {
  return {[&p] { columns(p, [](float a, float b) { return a > b ? a : b; }); }};
}
job distances(problem& p) {
  return {[&p] {
    const float* x = p.in[0].f();
    float* __restrict y = p.result();
    const std::int64_t m = p.e(0), k = p.e(1);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        float s = 0;
        for (std::int64_t l = 0; l < k; ++l) s += (x[i * k + l] - x[j * k + l]) * (x[i * k + l] - x[j * k + l]);
        y[i * m + j] = std::sqrt(s);
      }
  }};
}

const peers here{
    {"total", "f32", "", total},
    {"lowest", "f32", "", lowest},
    {"argmax_all", "f32", "", argmax_all},
    {"prefix_sum", "f32", "", prefix_sum},
    {"dot_product", "f32", "", dot_product<float>},
    {"dot_product", "f64", "", dot_product<double>},
    {"softmax_rows", "f32", "", softmax_rows},
    {"layer_norm_rows", "f32", "", layer_norm_rows},
    {"sum_columns", "f32", "", sum_columns},
    {"max_columns", "f32", "", max_columns},
    {"argmin_rows", "f32", "", argmin_rows},
    {"distances", "f32", "", distances},
};

}  // namespace
}  // namespace kiln::headline
