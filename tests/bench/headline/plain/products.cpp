// Products in plain C++, as one writes them first: the innermost loop runs over contiguous elements. These sources are compiled
// by g++ and clang++ with -O3 -march=native, and once more with -ffast-math.
#include <bit>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

struct half_float {
  std::uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

// c = a b; the strides say how a lies.
template <class A, class B, class C>
void multiply(const A* a, std::int64_t ai, std::int64_t ak, const B* b, C* __restrict c, std::int64_t m, std::int64_t k,
              std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i, c += n) {
    for (std::int64_t j = 0; j < n; ++j) c[j] = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      const C x = static_cast<C>(a[i * ai + l * ak]);
      for (std::int64_t j = 0; j < n; ++j) c[j] += x * static_cast<C>(b[l * n + j]);
    }
  }
}
// Rows of a times rows of b.
template <class A, class B, class C>
void multiply_rows(const A* a, std::int64_t ai, std::int64_t ak, const B* b, C* __restrict c, std::int64_t m, std::int64_t k,
                   std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      C s = 0;
      for (std::int64_t l = 0; l < k; ++l) s += static_cast<C>(a[i * ai + l * ak]) * static_cast<C>(b[j * k + l]);
      c[i * n + j] = s;
    }
}

template <class A, class B, class C, bool ta = false, bool tb = false>
job product(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(0), k = p.e(1), n = p.e(2);
    const auto f = tb ? multiply_rows<A, B, C> : multiply<A, B, C>;
    f(p.in[0].as<A>(), ta ? 1 : k, ta ? m : 1, p.in[1].as<B>(), p.out[0].as<C>(), m, k, n);
  }};
}
job batched(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(1), k = p.e(2), n = p.e(3);
    for (std::int64_t b = 0; b < p.e(0); ++b)
      multiply(p.in[0].f() + b * m * k, k, 1, p.in[1].f() + b * k * n, p.result() + b * m * n, m, k, n);
  }};
}
template <class Function>
job dense(problem& p, Function f) {
  return {[&p, f] {
    const std::int64_t m = p.e(0), k = p.e(1), n = p.e(2);
    float* c = p.result();
    const float* bias = p.in[2].f();
    multiply(p.in[0].f(), k, 1, p.in[1].f(), c, m, k, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] = f(c[i * n + j] + bias[j]);
  }};
}
job dense_relu(problem& p) {
  return dense(p, [](float x) { return x > 0 ? x : 0; });
}
job dense_gelu(problem& p) {
  return dense(p, [](float x) { return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x))); });
}
template <class A>
job matvec(problem& p) {
  return {[&p] { multiply_rows(p.in[0].as<A>(), p.e(1), 1, p.in[1].f(), p.result(), p.e(0), p.e(1), 1); }};
}

const peers here{
    {"product", "f32", "", product<float, float, float>},
    {"product", "f64", "", product<double, double, double>},
    {"product", "bf16", "", product<half_float, half_float, float>},
    {"product_u8_i8", "u8", "", product<std::uint8_t, std::int8_t, std::int32_t>},
    {"product_at_b", "f32", "", product<float, float, float, true, false>},
    {"product_a_bt", "f32", "", product<float, float, float, false, true>},
    {"product_at_bt", "f32", "", product<float, float, float, true, true>},
    {"batched", "f32", "", batched},
    {"dense_relu", "f32", "", dense_relu},
    {"dense_gelu", "f32", "", dense_gelu},
    {"matvec", "f32", "", matvec<float>},
    {"matvec", "i8", "", matvec<std::int8_t>},
};

}  // namespace
}  // namespace kiln::headline
