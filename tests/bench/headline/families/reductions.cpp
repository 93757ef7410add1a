// Reductions: arguments, and a reference for one element.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

template <int inputs, kiln_dtype result = KILN_BOOL>  // bool: the type of the inputs
void to_scalar(const workload& w, problem& p) {
  for (int i = 0; i < inputs; ++i) p.in.push_back({type_of(w.type), w.e});
  p.out.push_back({result == KILN_BOOL ? type_of(w.type) : result, {}});
}
void same_shape(const workload& w, problem& p) {
  p.in.push_back({type_of(w.type), w.e});
  p.out.push_back({type_of(w.type), w.e});
}
void layer_norm(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.in.push_back({KILN_F32, {w.e[1]}});
  p.in.push_back({KILN_F32, {w.e[1]}});
  p.out.push_back({KILN_F32, w.e});
}
void columns(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.out.push_back({KILN_F32, {w.e[1]}});
}
void rows(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.out.push_back({KILN_I64, {w.e[0]}});
}
void pairs(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.out.push_back({KILN_F32, {w.e[0], w.e[0]}});
}

// f(state, element) over `n` elements that are `step` apart.
double over(const array& a, std::int64_t first, std::int64_t n, std::int64_t step, double state, auto const& f) {
  for (std::int64_t i = 0; i < n; ++i) state = f(state, a[first + i * step]);
  return state;
}
const auto add_up = [](double s, double x) { return s + x; };
const auto larger = [](double s, double x) { return std::max(s, x); };
// The position of the first element that `before` puts before all others.
double position(const array& a, std::int64_t first, std::int64_t n, auto const& before) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i)
    if (before(a[first + i], a[first + best])) best = i;
  return static_cast<double>(best);
}

double total(const problem& p, std::size_t, std::int64_t) { return over(p.in[0], 0, p.e(0), 1, 0, add_up); }
double lowest(const problem& p, std::size_t, std::int64_t) {
  return over(p.in[0], 0, p.e(0), 1, 1e30, [](double s, double x) { return std::min(s, x); });
}
double argmax_all(const problem& p, std::size_t, std::int64_t) {
  return position(p.in[0], 0, p.e(0), [](double x, double y) { return x > y; });
}
double argmin_rows(const problem& p, std::size_t, std::int64_t i) {
  return position(p.in[0], i * p.e(1), p.e(1), [](double x, double y) { return x < y; });
}
double prefix(const problem& p, std::size_t, std::int64_t i) { return over(p.in[0], 0, i + 1, 1, 0, add_up); }
double inner(const problem& p, std::size_t, std::int64_t) {
  double s = 0;
  for (std::int64_t i = 0; i < p.e(0); ++i) s += p.in[0][i] * p.in[1][i];
  return s;
}
double softmax(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t n = p.e(1), first = i / n * n;
  const double most = over(p.in[0], first, n, 1, -1e30, larger);
  return std::exp(p.in[0][i] - most) /
         over(p.in[0], first, n, 1, 0, [&](double s, double x) { return s + std::exp(x - most); });
}
double layer_normed(const problem& p, std::size_t, std::int64_t i) {
  const std::int64_t n = p.e(1), first = i / n * n;
  const double size = static_cast<double>(n), mean = over(p.in[0], first, n, 1, 0, add_up) / size;
  const double squares = over(p.in[0], first, n, 1, 0, [&](double s, double x) { return s + (x - mean) * (x - mean); });
  return (p.in[0][i] - mean) / std::sqrt(squares / size + 1e-5) * p.in[1][i % n] + p.in[2][i % n];
}
double column_sum(const problem& p, std::size_t, std::int64_t j) { return over(p.in[0], j, p.e(0), p.e(1), 0, add_up); }
double column_max(const problem& p, std::size_t, std::int64_t j) { return over(p.in[0], j, p.e(0), p.e(1), -1e30, larger); }
double distance(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t m = p.e(0), k = p.e(1), i = e / m, j = e % m;
  double s = 0;
  for (std::int64_t l = 0; l < k; ++l)
    s += (p.in[0][i * k + l] - p.in[0][j * k + l]) * (p.in[0][i * k + l] - p.in[0][j * k + l]);
  return std::sqrt(s);
}

// Operations for each element of the input, in slots of a multiply-add unit that count 2.
template <int slots>
double work(const workload& w) {
  return 2.0 * slots * static_cast<double>(count(w.e));
}
double row_cost(const workload& w) { return 20 * static_cast<double>(w.e[1]); }
double prefix_cost(const workload& w) { return static_cast<double>(w.e[0]); }
// A difference, its square and the sum, for each pair.
double pair_work(const workload& w) { return 4 * static_cast<double>(w.e[0] * w.e[0] * w.e[1]); }

// Sums of f32 in order of their elements, 2^24 of them, have an error of up to about 1: hence their tolerances. A distance of
// equal points by |x|^2 + |y|^2 - 2xy is up to 2e-3.
const families here{
    {"total", to_scalar<1>, total, work<1>, 2},
    {"lowest", to_scalar<1>, lowest, work<1>, 0},
    {"argmax_all", to_scalar<1, KILN_I64>, argmax_all, work<1>},
    {"prefix_sum", same_shape, prefix, work<2>, 2, 0, prefix_cost},
    {"dot_product", to_scalar<2>, inner, work<1>, 0.05},
    {"softmax_rows", same_shape, softmax, work<17>, 1e-5, 0, row_cost},
    {"layer_norm_rows", layer_norm, layer_normed, work<5>, 1e-4, 0, row_cost},
    {"sum_columns", columns, column_sum, work<1>, 1e-3},
    {"max_columns", columns, column_max, work<1>, 0},
    {"argmin_rows", rows, argmin_rows, work<1>},
    {"distances", pairs, distance, pair_work, 3e-3},
};

}  // namespace
}  // namespace kiln::headline
