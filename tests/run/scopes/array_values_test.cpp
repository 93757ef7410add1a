// Small local arrays that loops with constant bounds access: they become values, and the work items become lanes.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace array_values_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

// Bubble sort of a row, products of matrices of 2 x 2, a loop that reads without writing, and a place from data.
struct small_arrays : program<small_arrays> {
  in<i32, N, 8> x;
  out<i32, N, 8> sorted;
  out<i32, N, 2, 2> power;
  out<i32, N> dot, picked;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = local<i32, 8>();
      for (auto k : loop(8)) s(k) = x(i, k);
      for (auto p : loop(7))
        for (auto k : loop(7)) {
          auto a = s(k) + 0, b = s(k + 1) + 0;
          if (auto c = when(a > b)) {
            s(k) = b;
            s(k + 1) = a;
          }
        }
      for (auto k : loop(8)) sorted(i, k) = s(k);
    }
    for (auto [i] : kernel(N)) {
      auto m = local<i32, 2, 2>(), r = local<i32, 2, 2>();
      for (auto a : loop(2))
        for (auto b : loop(2)) m(a, b) = x(i, 2 * a + b);
      r(0, 0) = 1;
      r(1, 1) = 1;
      auto sum = var(0);
      for (auto t : loop(3)) {
        auto n = local<i32, 2, 2>();
        for (auto a : loop(2))
          for (auto b : loop(2))
            for (auto k : loop(2)) n(a, b) += r(a, k) * m(k, b);
        for (auto a : loop(2))
          for (auto b : loop(2)) {
            r(a, b) = n(a, b);
            sum += n(a, b) * t;
          }
      }
      for (auto a : loop(2))
        for (auto b : loop(2)) power(i, a, b) = r(a, b);
      dot(i) = sum;
    }
    for (auto [i] : kernel(N)) {
      auto s = local<i32, 4>();
      for (auto k : loop(4)) s(k) = x(i, k) * 3;
      s(x(i, 7)) = 5;
      picked(i) = s(x(i, 6)) + s(1);
    }
  }
};
TEST(ArrayValues, SmallLocalArrays) {
  for (const int n : {0, 1, 7, 16, 37}) {
    std::vector<int> x, sorted, power, dot, picked;
    for (int i = 0; i < n * 8; ++i) x.push_back(i * 7919 % 23 - 11);
    for (int i = 0; i < n; ++i) {
      const auto row = [&](int k) { return x[static_cast<std::size_t>(i * 8 + k)]; };
      std::vector<int> s(x.begin() + i * 8, x.begin() + i * 8 + 8);
      std::ranges::sort(s);
      sorted.insert(sorted.end(), s.begin(), s.end());
      int r[2][2] = {{1, 0}, {0, 1}}, sum = 0;
      for (int t = 0; t < 3; ++t) {
        int p[2][2] = {};
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            for (int k = 0; k < 2; ++k) p[a][b] += r[a][k] * row(2 * k + b);
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b) r[a][b] = p[a][b], sum += p[a][b] * t;
      }
      for (const auto& line : r) power.insert(power.end(), line, line + 2);
      dot.push_back(sum);
      int q[4];
      for (int k = 0; k < 4; ++k) q[k] = row(k) * 3;
      q[std::clamp(row(7), 0, 3)] = 5;
      picked.push_back(q[std::clamp(row(6), 0, 3)] + q[1]);
    }
    const auto r =
        scopes::run(ir<small_arrays>, {scopes::tensor({n, 8}, x), scopes::output<int>({n, 8}), scopes::output<int>({n, 2, 2}),
                                       scopes::output<int>({n}), scopes::output<int>({n})});
    EXPECT_EQ(scopes::values<int>(r["sorted"]), sorted) << n;
    EXPECT_EQ(scopes::values<int>(r["power"]), power) << n;
    EXPECT_EQ(scopes::values<int>(r["dot"]), dot) << n;
    EXPECT_EQ(scopes::values<int>(r["picked"]), picked) << n;
  }
}

}  // namespace

}  // namespace array_values_test
