// Indices that loops keep inside of an array, and loops over data whose indices may be outside.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>

#include "tests/run/scopes/run_scopes.h"

namespace loop_clamps_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;
inline constexpr dim<"P"> P;

// A Cholesky factor by loops of one work item, and the rows below each diagonal element by a kernel.
struct factors : program<factors> {
  inout<f64, N, N> a, b;
  constexpr void body() {
    for (auto o : once())
      for (auto j : loop(N)) {
        auto s = var(a(j, j));
        for (auto k : loop(j)) s -= a(j, k) * a(j, k);
        auto d = sqrt(s) + 0.0;
        a(j, j) = d;
        for (auto i : loop(j + 1, N)) {
          auto t = var(a(i, j));
          for (auto k : loop(j)) t -= a(i, k) * a(j, k);
          a(i, j) = t / d;
        }
      }
    for (auto j : loop(N)) {
      for (auto o : once()) {
        auto s = var(b(j, j));
        for (auto k : loop(j)) s -= b(j, k) * b(j, k);
        b(j, j) = sqrt(s);
      }
      for (auto [r] : kernel(b.size<0>() - 1 - j)) {
        auto i = r + j + 1;
        auto t = var(b(i, j));
        for (auto k : loop(j)) t -= b(i, k) * b(j, k);
        unique(b(i, j)) = t / b(j, j);
      }
    }
  }
};
TEST(LoopClamps, FactorsByTriangularLoops) {
  for (const int n : {0, 1, 2, 7, 20}) {
    const auto at = [&](int i, int j) { return static_cast<std::size_t>(i * n + j); };
    std::vector<double> a(at(n, 0));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) a[at(i, j)] = i == j ? 3.0 * n + i : std::cos(i * 3 + j * 5) + std::cos(j * 3 + i * 5);
    std::vector<double> l = a;
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < j; ++k) l[at(j, j)] -= l[at(j, k)] * l[at(j, k)];
      l[at(j, j)] = std::sqrt(l[at(j, j)]);
      for (int i = j + 1; i < n; ++i) {
        for (int k = 0; k < j; ++k) l[at(i, j)] -= l[at(i, k)] * l[at(j, k)];
        l[at(i, j)] /= l[at(j, j)];
      }
    }
    const auto r = scopes::run(ir<factors>, {scopes::tensor({n, n}, a), scopes::tensor({n, n}, a)});
    EXPECT_EQ(scopes::values<double>(r["a"]), l) << n;
    EXPECT_EQ(scopes::values<double>(r["b"]), l) << n;
  }
}

// Rows whose begins and columns come from data, which may be wrong: outside of the array means the nearest element.
struct sparse_rows : program<sparse_rows> {
  in<i32, P> begin;
  in<i32, K> column;
  in<f32, K> value;
  in<f32, M> x;
  out<f32, N> y, z;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = var(0.0f), t = var(0.0f);
      for (auto k : loop(begin(i), begin(i + 1))) s += value(k) * x(column(k));
      for (auto k : loop(begin(i) - 3, begin(i + 1), 2)) t += value(k) - value.at<mode::constant>(k + 1, 0);
      y(i) = s;
      z(i) = t;
    }
  }
};
TEST(LoopClamps, RowsFromData) {
  const std::vector<std::vector<int>> begins = {{0, 3, 3, 10, 14}, {-4, 2, 20, 9, 30}, {5, 1, -7, -2, 3}, {14, 14, 90, 99, 12}};
  for (const int k_end : {14, 1, 0})
    for (const int m : {6, 0})
      for (const std::vector<int>& begin : begins) {
        std::vector<int> column;
        std::vector<float> value, x;
        for (int k = 0; k < k_end; ++k) column.push_back(k * 5 % 11 - 2), value.push_back(static_cast<float>(k * 7 % 13) - 4);
        for (int i = 0; i < m; ++i) x.push_back(static_cast<float>(i * i) - 7);
        const auto near = [](const auto& v, int i) {
          using T = std::remove_cvref_t<decltype(v[0])>;
          return v.empty() ? T{0} : v[static_cast<std::size_t>(std::clamp(i, 0, static_cast<int>(v.size()) - 1))];
        };
        std::vector<float> y, z;
        for (int i = 0; i < 4; ++i) {
          const int from = near(begin, i), to = near(begin, i + 1);
          float s = 0, t = 0;
          for (int k = from; k < to; ++k) s += near(value, k) * near(x, near(column, k));
          for (int k = from - 3; k < to; k += 2)
            t += near(value, k) - (k + 1 >= 0 && k + 1 < k_end ? near(value, k + 1) : 0.0f);
          y.push_back(s), z.push_back(t);
        }
        const auto r = scopes::run(ir<sparse_rows>,
                                   {scopes::tensor({5}, begin), scopes::tensor({k_end}, column), scopes::tensor({k_end}, value),
                                    scopes::tensor({m}, x), scopes::output<float>({4}), scopes::output<float>({4})});
        EXPECT_EQ(scopes::values<float>(r["y"]), y) << begin[0] << ", " << k_end << ", " << m;
        EXPECT_EQ(scopes::values<float>(r["z"]), z) << begin[0] << ", " << k_end << ", " << m;
      }
}

// The neighbours of the elements of an interior, in kernels whose extents are differences, also below 0.
struct interior_sums : program<interior_sums> {
  in<i32, N, M> x;
  out<i32, N, M> y;
  constexpr void body() {
    for (auto [a, b] : kernel<N - 2, M - 4>()) {
      auto i = a + 1, j = b + 2;
      y(i, j) = x(i - 1, j) + 3 * x(i + 1, j) - x(i, j - 2) + 5 * x(i, j + 2) + x(i + 2, j + 3);
    }
  }
};
TEST(LoopClamps, InteriorOfAMatrix) {
  for (const auto& [n, m] :
       {std::pair(0, 9), std::pair(1, 1), std::pair(2, 40), std::pair(3, 4), std::pair(3, 5), std::pair(9, 41)}) {
    const auto at = [&, w = m](int i, int j) { return static_cast<std::size_t>(i * w + j); };
    std::vector<int> x(at(n, 0)), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * i % 1009);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 2; j < m - 2; ++j)
        y[at(i, j)] = x[at(i - 1, j)] + 3 * x[at(i + 1, j)] - x[at(i, j - 2)] + 5 * x[at(i, j + 2)] +
                      x[at(std::min(i + 2, n - 1), std::min(j + 3, m - 1))];
    const auto r = scopes::run(ir<interior_sums>, {scopes::tensor({n, m}, x), scopes::output<int>({n, m})});
    EXPECT_EQ(scopes::values<int>(r["y"]), y) << n << ", " << m;
  }
}

}  // namespace

}  // namespace loop_clamps_test
