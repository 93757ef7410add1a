// An N-body step and two small networks: arguments, and a reference for one element.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

void bodies(const workload& w, problem& p) {
  for (int i = 0; i < 3; ++i) p.in.push_back({KILN_F32, w.e});
  for (int i = 0; i < 3; ++i) p.out.push_back({KILN_F32, w.e});
}
double force(const problem& p, std::size_t out, std::int64_t i) {
  double s = 0;
  for (std::int64_t j = 0; j < p.e(0); ++j) {
    double d[3];
    for (std::size_t a = 0; a < 3; ++a) d[a] = p.in[a][j] - p.in[a][i];
    const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3;
    s += d[out] / (d2 * std::sqrt(d2));
  }
  return s;
}
// 15 instructions for each pair, square root and division by approximation and a step of Newton.
double force_work(const workload& w) { return 30 * static_cast<double>(w.e[0] * w.e[0]); }

void attention(const workload& w, problem& p) {
  for (int i = 0; i < 3; ++i) p.in.push_back({KILN_F32, w.e});
  p.out.push_back({KILN_F32, w.e});
}
double attention_element(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t s = p.e(2), d = p.e(3), row = i / d, first = i / (s * d) * s, column = i % d;
  std::vector<double> score(static_cast<std::size_t>(s));
  double most = -1e30, sum = 0, result = 0;
  for (std::int64_t j = 0; j < s; ++j) {
    double x = 0;
    for (std::int64_t k = 0; k < d; ++k) x += p.in[0][row * d + k] * p.in[1][(first + j) * d + k];
    score[static_cast<std::size_t>(j)] = x * 0.125;
    most = std::max(most, x * 0.125);
  }
  for (std::int64_t j = 0; j < s; ++j) {
    const double e = std::exp(score[static_cast<std::size_t>(j)] - most);
    sum += e;
    result += e * p.in[2][(first + j) * d + column];
  }
  return result / sum;
}
double attention_work(const workload& w) {
  const double pairs = static_cast<double>(w.e[0] * w.e[1] * w.e[2] * w.e[2]);
  return pairs * (4 * static_cast<double>(w.e[3]) + 34);
}

double attention_cost(const workload& w) { return 4 * static_cast<double>(w.e[2] * (w.e[3] + 20)); }

void mlp(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, {w.e[0], w.e[1]}});
  for (std::size_t l = 1; l + 1 < w.e.size(); ++l) {
    p.in.push_back({KILN_F32, {w.e[l], w.e[l + 1]}});
    p.in.push_back({KILN_F32, {w.e[l + 1]}});
  }
  p.out.push_back({KILN_F32, {w.e[0], w.e.back()}});
}
double mlp_element(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t classes = p.row->e.back(), row = i / classes;
  std::vector<double> x;
  for (std::int64_t k = 0; k < p.e(1); ++k) x.push_back(p.in[0][row * p.e(1) + k]);
  for (std::size_t l = 1; l + 1 < p.row->e.size(); ++l) {
    const std::int64_t n = p.row->e[l + 1];
    std::vector<double> y;
    for (std::int64_t j = 0; j < n; ++j) {
      double s = p.in[2 * l][j];
      for (std::size_t k = 0; k < x.size(); ++k) s += x[k] * p.in[2 * l - 1][static_cast<std::int64_t>(k) * n + j];
      y.push_back(l + 2 < p.row->e.size() ? std::max(s, 0.0) : s);
    }
    x = y;
  }
  return x[static_cast<std::size_t>(i % classes)];
}
double mlp_work(const workload& w) {
  std::int64_t n = 0;
  for (std::size_t l = 1; l + 1 < w.e.size(); ++l) n += w.e[0] * w.e[l] * w.e[l + 1];
  return 2 * static_cast<double>(n);
}

double mlp_cost(const workload& w) { return 2 * mlp_work(w) / static_cast<double>(w.e[0]); }

// The sums of a network's layers grow to thousands, where the error of f32 is 1e-3.
const families here{
    {"nbody", bodies, force, force_work, 1e-3},
    {"attention", attention, attention_element, attention_work, 1e-4, 0, attention_cost},
    {"mlp", mlp, mlp_element, mlp_work, 1e-2, 0, mlp_cost},
};

}  // namespace
}  // namespace kiln::headline
