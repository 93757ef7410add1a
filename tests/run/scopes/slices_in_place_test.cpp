// Steps that read a row, a column or an element of the tensor that they change (copy_slices), compared with C++.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace slices_in_place_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

struct shortest_paths : program<shortest_paths> {
  inout<f32, N, N> d;
  constexpr void body() {
    for (auto k : loop(N)) d = min(d, unsqueeze<1>(transpose(d)(k)) + d(k));
  }
};

struct elimination : program<elimination> {
  inout<f32, N, N> a;
  constexpr void body() {
    for (auto k : loop(N)) {
      auto [row, column] = indices(a);
      a = select(row > k, a - unsqueeze<1>(transpose(a)(k)) * a(k) / a(k, k), a);
    }
  }
};

// Two tensors change in a step, and both read a row of the matrix as it was before the step.
struct sums_of_rows : program<sums_of_rows> {
  in<i32> steps;
  inout<f32, N, N> a;
  inout<f32, N> s;
  constexpr void body() {
    for (auto k : loop(steps)) {
      auto old = a(k % 3);
      a = a * 0.5f + old;
      s += old;
    }
  }
};

// Parts of a matrix that change in place: their conditions compare positions.
struct triangles : program<triangles> {
  inout<f32, N, N> upper, lower, diagonal, border, kernels;
  constexpr void body() {
    auto [row, column] = indices(upper);
    upper = select(column >= row, upper * 2.0f, upper);
    lower = select(column >= row, lower, lower * 2.0f);
    diagonal = select(row == column, diagonal + 1.0f, diagonal);
    border = select(row == 0 || column == size<N, i32>() - 1, 0.0f, border);
    for (auto [i, j] : kernel(N, N)) kernels(i, j) = select(i + j > 4, kernels(i, j) - 1.0f, kernels(i, j));
  }
};

// The last iterations store the element that the kernel found. Earlier iterations have changed it.
struct restored : program<restored> {
  inout<f32, N> x;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto old = x(i);
      for (auto k : loop(4)) x(i) = select(k < 2, cast<f32>(k), old);
    }
  }
};

std::vector<float> matrix(int n) {
  std::vector<float> m;
  for (int i = 0; i < n * n; ++i) m.push_back(static_cast<float>(i * 37 % 101) * 0.25F + (i % (n + 1) == 0 ? 64.0F : 1.0F));
  return m;
}

std::size_t at(int i, int j, int n) { return static_cast<std::size_t>(i * n + j); }

TEST(SlicesInPlace, ShortestPaths) {
  for (const int n : {0, 1, 2, 7, 33}) {
    std::vector<float> d = matrix(n);
    auto r = scopes::run(ir<shortest_paths>, {scopes::tensor({n, n}, d)});
    for (int k = 0; k < n; ++k) {
      const std::vector<float> old = d;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) d[at(i, j, n)] = std::min(old[at(i, j, n)], old[at(i, k, n)] + old[at(k, j, n)]);
    }
    EXPECT_EQ(scopes::values<float>(r["d"]), d) << n;
  }
}

TEST(SlicesInPlace, Elimination) {
  for (const int n : {1, 2, 7, 33}) {
    std::vector<float> a = matrix(n);
    auto r = scopes::run(ir<elimination>, {scopes::tensor({n, n}, a)});
    for (int k = 0; k < n; ++k) {
      const std::vector<float> old = a;
      for (int i = k + 1; i < n; ++i)
        for (int j = 0; j < n; ++j) a[at(i, j, n)] = old[at(i, j, n)] - old[at(i, k, n)] * old[at(k, j, n)] / old[at(k, k, n)];
    }
    EXPECT_EQ(scopes::values<float>(r["a"]), a) << n;
  }
}

TEST(SlicesInPlace, Triangles) {
  for (const int n : {0, 1, 2, 7, 16, 33, 70}) {
    const std::vector<float> a = matrix(n);
    const auto t = scopes::tensor({n, n}, a);
    auto r = scopes::run(ir<triangles>, {t, t, t, t, t});
    std::vector<float> upper = a, lower = a, diagonal = a, border = a, kernels = a;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto e = at(i, j, n);
        if (j >= i) upper[e] *= 2.0F;
        if (j < i) lower[e] *= 2.0F;
        if (i == j) diagonal[e] += 1.0F;
        if (i == 0 || j == n - 1) border[e] = 0.0F;
        if (i + j > 4) kernels[e] -= 1.0F;
      }
    EXPECT_EQ(scopes::values<float>(r["upper"]), upper) << n;
    EXPECT_EQ(scopes::values<float>(r["lower"]), lower) << n;
    EXPECT_EQ(scopes::values<float>(r["diagonal"]), diagonal) << n;
    EXPECT_EQ(scopes::values<float>(r["border"]), border) << n;
    EXPECT_EQ(scopes::values<float>(r["kernels"]), kernels) << n;
  }
}

TEST(SlicesInPlace, RestoredElements) {
  const std::vector<float> x = matrix(9);
  auto r = scopes::run(ir<restored>, {scopes::tensor({81}, x)});
  EXPECT_EQ(scopes::values<float>(r["x"]), x);
}

TEST(SlicesInPlace, SumsOfRows) {
  for (const int n : {3, 5, 34}) {
    std::vector<float> a = matrix(n), s(static_cast<std::size_t>(n), 0.0F);
    auto r = scopes::run(ir<sums_of_rows>, {scopes::scalar(5), scopes::tensor({n, n}, a), scopes::tensor({n}, s)});
    for (int k = 0; k < 5; ++k) {
      const std::vector<float> old = a;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) a[at(i, j, n)] = old[at(i, j, n)] * 0.5F + old[at(k % 3, j, n)];
      for (int j = 0; j < n; ++j) s[at(0, j, n)] += old[at(k % 3, j, n)];
    }
    EXPECT_EQ(scopes::values<float>(r["a"]), a) << n;
    EXPECT_EQ(scopes::values<float>(r["s"]), s) << n;
  }
}

}  // namespace

}  // namespace slices_in_place_test
