// Parts of networks, and their training: arguments, and a reference for one element.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }
double inner(const array& a, std::int64_t i, std::int64_t step, const array& b, std::int64_t j, std::int64_t pitch,
             std::int64_t n) {
  double s = 0;
  for (std::int64_t k = 0; k < n; ++k) s += a[i + k * step] * b[j + k * pitch];
  return s;
}

void attended(const workload& w, problem& p, std::int64_t queries) {
  p.in.push_back({KILN_F32, {w.e[0], queries, w.e[2]}});
  for (int i = 0; i < 2; ++i) p.in.push_back({KILN_F32, w.e});
  p.out.push_back({KILN_F32, {w.e[0], queries, w.e[2]}});
}
void one_query(const workload& w, problem& p) { attended(w, p, 1); }
void all_queries(const workload& w, problem& p) { attended(w, p, w.e[1]); }
// The row of queries that begins at `row`, with the first `n` keys of the head.
double attention_of(const problem& p, std::int64_t head, std::int64_t row, std::int64_t n, std::int64_t column) {
  const std::int64_t s = p.e(1), d = p.e(2);
  std::vector<double> score;
  for (std::int64_t j = 0; j < n; ++j) score.push_back(0.125 * inner(p.in[0], row, 1, p.in[1], (head * s + j) * d, 1, d));
  const double most = *std::ranges::max_element(score);
  double sum = 0, result = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double e = std::exp(score[static_cast<std::size_t>(j)] - most);
    sum += e;
    result += e * p.in[2][(head * s + j) * d + column];
  }
  return result / sum;
}
double decode(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t d = p.e(2), head = i / d;
  return attention_of(p, head, head * d, p.e(1), i % d);
}
double causal(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t s = p.e(1), d = p.e(2), row = i / d;
  return attention_of(p, row / s, row * d, row % s + 1, i % d);
}
double decode_work(const workload& w) { return static_cast<double>(w.e[0] * w.e[1]) * (4 * static_cast<double>(w.e[2]) + 34); }
// Half of the pairs.
double causal_work(const workload& w) { return decode_work(w) * static_cast<double>(w.e[1]) / 2; }
double attention_cost(const workload& w) { return 4 * static_cast<double>(w.e[1] * (w.e[2] + 20)); }

void gru(const workload& w, problem& p) {
  const std::int64_t n = w.e[2];
  for (const extents& e : {extents{w.e[0], w.e[1]}, {w.e[0], n}, {w.e[1], 3 * n}, {n, 3 * n}, {3 * n}})
    p.in.push_back({KILN_F32, e});
  p.out.push_back({KILN_F32, {w.e[0], n}});
}
double gru_element(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t n = p.e(2), i = e / n, j = e % n;
  double a[3], c[3];
  for (std::int64_t g = 0; g < 3; ++g) {
    a[g] = inner(p.in[0], i * p.e(1), 1, p.in[2], g * n + j, 3 * n, p.e(1)) + p.in[4][g * n + j];
    c[g] = inner(p.in[1], i * n, 1, p.in[3], g * n + j, 3 * n, n);
  }
  const double r = logistic_of(a[0] + c[0]), z = logistic_of(a[1] + c[1]);
  return (1 - z) * std::tanh(a[2] + r * c[2]) + z * p.in[1][e];
}
double gru_work(const workload& w) { return 6 * static_cast<double>(w.e[0] * w.e[2] * (w.e[1] + w.e[2])); }

void labelled(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.in.push_back({KILN_I32, {w.e[0]}});
  p.out.push_back({KILN_F32, {}});
}
double cross_entropy(const problem& p, std::size_t, std::int64_t) {
  const std::int64_t n = p.e(1);
  double total = 0;
  for (std::int64_t i = 0; i < p.e(0); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += std::exp(p.in[0][i * n + j]);
    total += std::log(sum) - p.in[0][i * n + static_cast<std::int64_t>(p.in[1][i])];
  }
  return total / static_cast<double>(p.e(0));
}

void normed(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.in.push_back({KILN_F32, {w.e[1]}});
  p.out.push_back({KILN_F32, w.e});
}
double rms_norm(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t n = p.e(1), row = i / n * n;
  const double mean = inner(p.in[0], row, 1, p.in[0], row, 1, n) / static_cast<double>(n);
  return p.in[0][i] / std::sqrt(mean + 1e-5) * p.in[1][i % n];
}
double row_cost(const workload& w) { return 20 * static_cast<double>(w.e[1]); }

void gated(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, {w.e[0], w.e[1]}});
  for (int i = 0; i < 2; ++i) p.in.push_back({KILN_F32, {w.e[1], w.e[2]}});
  p.out.push_back({KILN_F32, {w.e[0], w.e[2]}});
}
double swiglu(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t k = p.e(1), n = p.e(2), row = i / n * k, column = i % n;
  const double x = inner(p.in[0], row, 1, p.in[1], column, n, k);
  return x * logistic_of(x) * inner(p.in[0], row, 1, p.in[2], column, n, k);
}
double swiglu_work(const workload& w) { return 4 * static_cast<double>(count(w.e)); }

void updated(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  for (int i = 0; i < 3; ++i) p.out.push_back({KILN_F32, w.e, true});
}
// After the first step. The initial values have both signs, so v begins with their magnitudes.
double adam(const problem& p, std::size_t out, std::int64_t i) {
  const double g = p.in[0][i], m = 0.9 * initial(KILN_F32, 2, i) + 0.1 * g;
  const double v = 0.999 * std::abs(initial(KILN_F32, 3, i)) + 0.001 * g * g;
  if (out > 0) return out == 1 ? m : v;
  return initial(KILN_F32, 1, i) - 0.001 * m / (std::sqrt(v) + 1e-8);
}

void samples(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.in.push_back({KILN_F32, {w.e[0]}});
  p.in.push_back({KILN_F32, {w.e[1]}});
  p.out.push_back({KILN_F32, {w.e[1]}});
}
double logistic(const problem& p, std::size_t, std::int64_t j) {
  const std::int64_t n = p.e(1);
  double s = 0;
  for (std::int64_t i = 0; i < p.e(0); ++i)
    s += (logistic_of(inner(p.in[0], i * n, 1, p.in[2], 0, 1, n)) - p.in[1][i]) * p.in[0][i * n + j];
  return s;
}

template <int slots>
double work(const workload& w) {
  return 2.0 * slots * static_cast<double>(count(w.e));
}

const families here{
    {"decode", one_query, decode, decode_work, 1e-4, 0, attention_cost},
    {"causal_attention", all_queries, causal, causal_work, 1e-4, 0, attention_cost},
    {"gru_cell", gru, gru_element, gru_work, 1e-4},
    {"cross_entropy", labelled, cross_entropy, work<16>, 1e-4},
    {"rms_norm", normed, rms_norm, work<3>, 1e-4, 0, row_cost},
    {"swiglu", gated, swiglu, swiglu_work, 2e-3},
    {"adam", updated, adam, work<9>, 1e-4},
    {"logistic", samples, logistic, work<2>, 1e-2},
};

}  // namespace
}  // namespace kiln::headline
