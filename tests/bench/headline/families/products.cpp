// Products: their arguments and a reference for one element.
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

kiln_dtype sum_type(kiln_dtype t) { return t == KILN_BF16 || t == KILN_I8 ? KILN_F32 : t; }

// Sum over k of a[i * ai + k * ak] * b[j * bj + k * bk].
double inner(const array& a, std::int64_t ai, std::int64_t ak, const array& b, std::int64_t bj, std::int64_t bk,
             std::int64_t n) {
  double s = 0;
  for (std::int64_t k = 0; k < n; ++k) s += a[ai + k * ak] * b[bj + k * bk];
  return s;
}

// The strides of a product's operands: `ta`, `tb` say that an operand lies transposed.
template <bool ta, bool tb>
double element_of(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t m = p.e(0), k = p.e(1), n = p.e(2), i = e / n, j = e % n;
  return inner(p.in[0], ta ? i : i * k, ta ? m : 1, p.in[1], tb ? j * k : j, tb ? 1 : n, k);
}
template <bool ta, bool tb>
void arguments_of(const workload& w, problem& p) {
  const kiln_dtype t = type_of(w.type);
  const std::int64_t m = w.e[0], k = w.e[1], n = w.e[2];
  p.in.push_back({t, ta ? extents{k, m} : extents{m, k}});
  p.in.push_back({t, tb ? extents{n, k} : extents{k, n}});
  p.out.push_back({sum_type(t), {m, n}});
}
void with_bias(const workload& w, problem& p) {
  arguments_of<false, false>(w, p);
  p.in.push_back({KILN_F32, {w.e[2]}});
}
double biased(const problem& p, std::size_t out, std::int64_t i) {
  return element_of<false, false>(p, out, i) + p.in[2][i % p.e(2)];
}
double relu_element(const problem& p, std::size_t out, std::int64_t i) { return std::max(biased(p, out, i), 0.0); }
double gelu_element(const problem& p, std::size_t out, std::int64_t i) {
  const double x = biased(p, out, i);
  return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

double product_work(const workload& w) { return 2 * static_cast<double>(count(w.e)); }
double gelu_work(const workload& w) { return product_work(w) + 48 * static_cast<double>(w.e[0] * w.e[2]); }

void integers(const workload& w, problem& p) {
  arguments_of<false, false>(w, p);
  p.in[1].type = KILN_I8;
  p.out[0].type = KILN_I32;
}

void batch(const workload& w, problem& p) {
  const kiln_dtype t = type_of(w.type);
  p.in.push_back({t, {w.e[0], w.e[1], w.e[2]}});
  p.in.push_back({t, {w.e[0], w.e[2], w.e[3]}});
  p.out.push_back({t, {w.e[0], w.e[1], w.e[3]}});
}
double batch_element(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t m = p.e(1), k = p.e(2), n = p.e(3), b = e / (m * n), i = e / n % m, j = e % n;
  return inner(p.in[0], (b * m + i) * k, 1, p.in[1], b * k * n + j, n, k);
}

void matvec(const workload& w, problem& p) {
  const kiln_dtype t = type_of(w.type);
  p.in.push_back({t, w.e});
  p.in.push_back({sum_type(t), {w.e[1]}});
  p.out.push_back({sum_type(t), {w.e[0]}});
}
double matvec_element(const problem& p, std::size_t, std::int64_t i) {
  return inner(p.in[0], i * p.e(1), 1, p.in[1], 0, 1, p.e(1));
}

// Sums of up to 8192 products of numbers in (-1, 1), or in (-128, 128) for i8.
const families here{
    {"product", arguments_of<false, false>, element_of<false, false>, product_work, 1e-4},
    {"product_at_b", arguments_of<true, false>, element_of<true, false>, product_work, 1e-4},
    {"product_a_bt", arguments_of<false, true>, element_of<false, true>, product_work, 1e-4},
    {"product_at_bt", arguments_of<true, true>, element_of<true, true>, product_work, 1e-4},
    {"product_u8_i8", integers, element_of<false, false>, product_work},
    {"batched", batch, batch_element, product_work, 1e-4},
    {"dense_relu", with_bias, relu_element, product_work, 1e-4},
    {"dense_gelu", with_bias, gelu_element, gelu_work, 1e-4},
    {"matvec", matvec, matvec_element, product_work, 2e-2},
};

}  // namespace
}  // namespace kiln::headline
