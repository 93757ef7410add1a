// Formulas, stencils and statistics: arguments, and a reference for one element.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

template <int inputs, int results>
void equal_shapes(const workload& w, problem& p) {
  for (int i = 0; i < inputs; ++i) p.in.push_back({KILN_F32, w.e});
  for (int i = 0; i < results; ++i) p.out.push_back({KILN_F32, w.e});
}

double normal(double x) { return 0.5 * (1 + std::erf(x * 0.70710678)); }
double black_scholes(const problem& p, std::size_t out, std::int64_t i) {
  const double price = p.in[0][i] + 2, strike = p.in[1][i] + 2, years = p.in[2][i] + 1.5, root = 0.3 * std::sqrt(years);
  const double d1 = (std::log(price / strike) + 0.065 * years) / root, d2 = d1 - root, paid = strike * std::exp(-0.02 * years);
  return out == 0 ? price * normal(d1) - paid * normal(d2) : paid * normal(-d2) - price * normal(-d1);
}

// x at a position that is moved to the nearest inside.
double nearest(const problem& p, extents at) {
  std::int64_t i = 0;
  for (std::size_t r = 0; r < at.size(); ++r) i = i * p.e(r) + std::clamp<std::int64_t>(at[r], 0, p.e(r) - 1);
  return p.in[0][i];
}
double heat(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t h = p.e(1), w = p.e(2), z = i / (h * w), y = i / w % h, x = i % w;
  const double around = nearest(p, {z - 1, y, x}) + nearest(p, {z + 1, y, x}) + nearest(p, {z, y - 1, x}) +
                        nearest(p, {z, y + 1, x}) + nearest(p, {z, y, x - 1}) + nearest(p, {z, y, x + 1});
  return p.in[0][i] + 0.1 * (around - 6 * p.in[0][i]);
}
double blur(const problem& p, std::size_t, std::int64_t i) {
  static constexpr double taps[] = {0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05};
  double s = 0;
  for (int a = 0; a < 7; ++a)
    for (int b = 0; b < 7; ++b) s += taps[a] * taps[b] * nearest(p, {i / p.e(1) + a - 3, i % p.e(1) + b - 3});
  return s;
}

void yuv(const workload& w, problem& p) {
  p.in.push_back({KILN_U8, {w.e[0], w.e[1], 3}});
  for (int i = 0; i < 3; ++i) p.out.push_back({KILN_U8, w.e});
}
double yuv_element(const problem& p, std::size_t out, std::int64_t i) {
  static constexpr double f[3][4] = {{66, 129, 25, 16}, {-38, -74, 112, 128}, {112, -94, -18, 128}};
  const double* c = f[out];
  return std::floor((c[0] * p.in[0][3 * i] + c[1] * p.in[0][3 * i + 1] + c[2] * p.in[0][3 * i + 2] + 128) / 256) + c[3];
}

void columns(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  for (int i = 0; i < 2; ++i) p.out.push_back({KILN_F32, {w.e[1]}});
}
double moments(const problem& p, std::size_t out, std::int64_t j) {
  const std::int64_t m = p.e(0), n = p.e(1);
  double s = 0, squares = 0;
  for (std::int64_t i = 0; i < m; ++i) s += p.in[0][i * n + j];
  const double mean = s / static_cast<double>(m);
  for (std::int64_t i = 0; i < m; ++i) squares += (p.in[0][i * n + j] - mean) * (p.in[0][i * n + j] - mean);
  return out == 0 ? mean : squares / static_cast<double>(m);
}
double softmax_columns(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t n = p.e(1);
  double s = 0;
  for (std::int64_t i = 0; i < p.e(0); ++i) s += std::exp(p.in[0][i * n + e % n]);
  return std::exp(p.in[0][e]) / s;
}
double column_cost(const workload& w) { return 20 * static_cast<double>(w.e[0]); }

void row_pairs(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, {w.e[0], w.e[2]}});
  p.in.push_back({KILN_F32, {w.e[1], w.e[2]}});
  p.out.push_back({KILN_F32, {w.e[0], w.e[1]}});
}
double cosine(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t k = p.e(2), i = e / p.e(1) * k, j = e % p.e(1) * k;
  double s = 0, a = 0, b = 0;
  for (std::int64_t l = 0; l < k; ++l) {
    s += p.in[0][i + l] * p.in[1][j + l];
    a += p.in[0][i + l] * p.in[0][i + l];
    b += p.in[1][j + l] * p.in[1][j + l];
  }
  return s / std::sqrt(a * b);
}
void times_vector(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.in.push_back({KILN_F32, {w.e[0]}});
  p.out.push_back({KILN_F32, {w.e[1]}});
}
double matvec_t(const problem& p, std::size_t, std::int64_t j) {
  double s = 0;
  for (std::int64_t i = 0; i < p.e(0); ++i) s += p.in[0][i * p.e(1) + j] * p.in[1][i];
  return s;
}

template <int slots>
double work(const workload& w) {
  return 2.0 * slots * static_cast<double>(count(w.e));
}
const families here{
    {"black_scholes", equal_shapes<3, 2>, black_scholes, work<80>, 1e-4},
    {"heat", equal_shapes<1, 1>, heat, work<8>},
    {"blur", equal_shapes<1, 1>, blur, work<14>},
    {"rgb_to_yuv", yuv, yuv_element, work<12>},
    {"moments", columns, moments, work<3>, 1e-4},
    {"softmax_columns", equal_shapes<1, 1>, softmax_columns, work<17>, 1e-5, 0, column_cost},
    {"cosine", row_pairs, cosine, work<1>, 1e-4},
    {"matvec_t", times_vector, matvec_t, work<1>, 1e-2},
};

}  // namespace
}  // namespace kiln::headline
