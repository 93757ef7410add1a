// Products by the C interface of BLAS: OpenBLAS and BLIS, one program each. The number of threads comes from their environment.
#include <cblas.h>

#include <algorithm>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

int number(std::int64_t n) { return static_cast<int>(n); }

// alpha = 1; `beta` 1 adds to c.
template <bool ta = false, bool tb = false>
void multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n, float beta = 0) {
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, number(m), number(n), number(k), 1,
              a, number(ta ? m : k), b, number(tb ? k : n), beta, c, number(n));
}

template <bool ta, bool tb>
job product(problem& p) {
  return {[&p] { multiply<ta, tb>(p.in[0].f(), p.in[1].f(), p.result(), p.e(0), p.e(1), p.e(2)); }};
}
job product_of_doubles(problem& p) {
  return {[&p] {
    const int m = number(p.e(0)), k = number(p.e(1)), n = number(p.e(2));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, p.in[0].as<double>(), k, p.in[1].as<double>(), n, 0,
                p.out[0].as<double>(), n);
  }};
}
// y = x B for one row: the matrix is read once, as a transposed product of a matrix and a vector.
job row_product(problem& p) {
  return {[&p] {
    cblas_sgemv(CblasRowMajor, CblasTrans, number(p.e(1)), number(p.e(2)), 1, p.in[1].f(), number(p.e(2)), p.in[0].f(), 1, 0,
                p.result(), 1);
  }};
}
job batched(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(1), k = p.e(2), n = p.e(3);
    for (std::int64_t b = 0; b < p.e(0); ++b)
      multiply(p.in[0].f() + b * m * k, p.in[1].f() + b * k * n, p.result() + b * m * n, m, k, n);
  }};
}
// c = relu(c + x w), where c begins with the bias.
void layer(const float* x, const float* w, const float* bias, float* c, std::int64_t m, std::int64_t k, std::int64_t n,
           bool relu) {
  for (std::int64_t i = 0; i < m; ++i) std::copy(bias, bias + n, c + i * n);
  multiply(x, w, c, m, k, n, 1);
  for (std::int64_t i = 0; i < m * n && relu; ++i) c[i] = c[i] > 0 ? c[i] : 0;
}
job dense_relu(problem& p) {
  return {[&p] { layer(p.in[0].f(), p.in[1].f(), p.in[2].f(), p.result(), p.e(0), p.e(1), p.e(2), true); }};
}
job mlp(problem& p) {
  const auto a = std::make_shared<std::vector<float>>(static_cast<std::size_t>(p.e(0) * 1024)),
             b = std::make_shared<std::vector<float>>(*a);
  return {[&p, a, b] {
    const std::size_t layers = p.row->e.size() - 2;
    const float* x = p.in[0].f();
    for (std::size_t l = 1; l <= layers; ++l) {
      float* y = l == layers ? p.result() : l % 2 == 0 ? a->data() : b->data();
      layer(x, p.in[2 * l - 1].f(), p.in[2 * l].f(), y, p.e(0), p.e(l), p.e(l + 1), l < layers);
      x = y;
    }
  }};
}
job matvec(problem& p) {
  return {[&p] {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, number(p.e(0)), number(p.e(1)), 1, p.in[0].f(), number(p.e(1)), p.in[1].f(), 1, 0,
                p.result(), 1);
  }};
}
job dot(problem& p) {
  return {[&p] { *p.result() = cblas_sdot(number(p.e(0)), p.in[0].f(), 1, p.in[1].f(), 1); }};
}
job dot_of_doubles(problem& p) {
  return {[&p] { *p.out[0].as<double>() = cblas_ddot(number(p.e(0)), p.in[0].as<double>(), 1, p.in[1].as<double>(), 1); }};
}
job saxpy(problem& p) {
  return {[&p] { cblas_saxpy(number(p.e(0)), p.in[0].f()[0], p.in[1].f(), 1, p.result(), 1); }};
}
#ifdef HEADLINE_OPENBLAS
job transposed(problem& p) {
  return {[&p] {
    const int m = number(p.e(0)), n = number(p.e(1));
    cblas_somatcopy(CblasRowMajor, CblasTrans, m, n, 1, p.in[0].f(), n, p.result(), m);
  }};
}
const peers more{{"transposed", "f32", "", transposed}};
#endif

const peers here{
    {"product", "f32", "", product<false, false>},
    {"product", "f32", "gemv", row_product, [](const workload& w) { return w.e[0] == 1; }},
    {"product", "f64", "", product_of_doubles},
    {"product_at_b", "f32", "", product<true, false>},
    {"product_a_bt", "f32", "", product<false, true>},
    {"product_at_bt", "f32", "", product<true, true>},
    {"batched", "f32", "", batched},
    {"dense_relu", "f32", "", dense_relu},
    {"mlp", "f32", "", mlp},
    {"matvec", "f32", "", matvec},
    {"dot_product", "f32", "", dot},
    {"dot_product", "f64", "", dot_of_doubles},
    {"saxpy", "f32", "", saxpy},
};

}  // namespace
}  // namespace kiln::headline
