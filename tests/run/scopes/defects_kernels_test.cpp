// Mistakes of other tensor compilers with kernels: the number of buffers that a kernel may need, and computations inside a
// matrix product. tests/conformance/features.md lists them.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/run/scopes/run_scopes.h"

namespace defects_kernels_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;

struct ten {
  in<i32, N> a, b, c, d, e, f, g, h, i, j;
  constexpr auto sum() const { return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10; }
  constexpr auto last_elements(auto const& k) const {
    return a(k) + b(k) + c(k) + d(k) + e(k) + f(k) + g(k) + h(k) + i(k) + j(k);
  }
};

// Each of two kernels has 41 buffers.
struct many_buffers : program<many_buffers> {
  ten p, q, r, s;
  out<i32, N> y, z;
  constexpr void body() {
    y = p.sum() - q.sum() + 3 * r.sum() - 5 * s.sum();
    for (auto [k] : kernel(N)) z(k) = p.last_elements(k) - q.last_elements(k) + r.last_elements(k) + s.last_elements(k) * y(k);
  }
};

TEST(Defects, KernelsOfManyBuffers) {
  const std::size_t n = 37;
  std::vector<scopes::Array> arguments;
  std::vector<int> y(n), z(n), signs{1, -1, 3, -5}, others{1, -1, 1};
  for (int part = 0; part < 4; ++part)
    for (int k = 0; k < 10; ++k) {
      std::vector<int> x;
      for (std::size_t i = 0; i < n; ++i) x.push_back(static_cast<int>(i * 7919) % 1009 + part * 10 + k);
      arguments.push_back(scopes::tensor({static_cast<std::int64_t>(n)}, x));
      for (std::size_t i = 0; i < n; ++i) y[i] += signs[static_cast<std::size_t>(part)] * (k + 1) * x[i];
    }
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::vector<int> x = scopes::values<int>(arguments[a]);
    for (std::size_t i = 0; i < n; ++i) z[i] += a < 30 ? others[a / 10] * x[i] : x[i] * y[i];
  }
  for (int out = 0; out < 2; ++out) arguments.push_back(scopes::output<int>({static_cast<std::int64_t>(n)}));
  EXPECT_EQ(scopes::all_kernels(ir<many_buffers>), 2);
  const auto r = scopes::run(ir<many_buffers>, arguments);
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
  EXPECT_EQ(scopes::values<int>(r["z"]), z);
}

// A computation inside a matrix product is treated equally on the left and on the right.
struct left_operand : program<left_operand> {
  in<f32, N, K> a;
  in<f32, K, M> b;
  out<f32, N, M> c;
  constexpr void body() { c = matmul(a * 2.0f + 1.0f, b); }
};
struct right_operand : program<right_operand> {
  in<f32, N, K> a;
  in<f32, K, M> b;
  out<f32, N, M> c;
  constexpr void body() { c = matmul(a, b * 2.0f + 1.0f); }
};
struct both_operands : program<both_operands> {
  in<f32, N, K> a;
  in<f32, K, M> b;
  out<f32, N, M> c;
  constexpr void body() { c = matmul(a * 2.0f + 1.0f, b * 2.0f + 1.0f); }
};

TEST(Defects, OperandsOfAProduct) {
  const std::int64_t n = 19, k = 33, m = 21;
  const auto at = [](std::int64_t i, std::int64_t j, std::int64_t columns) {
    return static_cast<std::size_t>(i * columns + j);
  };
  std::vector<float> a, b;
  for (int i = 0; i < n * k; ++i) a.push_back(static_cast<float>(i * 31 % 17 - 8));
  for (int i = 0; i < k * m; ++i) b.push_back(static_cast<float>(i * 37 % 13 - 6));
  const auto check = [&](const dsl::record::program& p, bool left, bool right) {
    const auto r = scopes::run(p, {scopes::tensor({n, k}, a), scopes::tensor({k, m}, b), scopes::output<float>({n, m})});
    const auto c = scopes::values<float>(r["c"]);
    EXPECT_EQ(scopes::all_kernels(p), 4 + (left ? 1 : 0) + (right ? 1 : 0));  // versions of one product, operands
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        float sum = 0;  // a sum of integers that f32 represents
        for (std::int64_t l = 0; l < k; ++l) {
          const float x = a[at(i, l, k)], y = b[at(l, j, m)];
          sum += (left ? 2 * x + 1 : x) * (right ? 2 * y + 1 : y);
        }
        EXPECT_EQ(c[at(i, j, m)], sum);
      }
  };
  check(ir<left_operand>, true, false);
  check(ir<right_operand>, false, true);
  check(ir<both_operands>, true, true);
}

}  // namespace

}  // namespace defects_kernels_test
