// Kernels that read and write the components of points and pixels: their lanes access whole vectors (forward_stores,
// interleaved_access). And rows that are added to rows of a table, in order, whose columns are lanes (explicit_plan).
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/run/scopes/run_scopes.h"

namespace components_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

std::vector<float> numbers(std::int64_t n, int from) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>((i * 7919 + from) % 203 - 100) / 16);
  return v;
}
const std::int64_t lengths[] = {0, 1, 2, 5, 7, 8, 15, 16, 17, 31, 33, 100};

// In place: each component is read and written, some twice, and one is a function of components that are written before it.
struct in_place : program<in_place> {
  inout<f32, N, 3> p, v;
  in<f32> dt;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      for (int k = 0; k < 3; ++k) {
        v(i, k) = v(i, k) * 0.5f - (k == 1 ? 2.0f : 0.0f) * dt;
        p(i, k) = p(i, k) + v(i, k) * dt;
      }
      p(i, 2) = p(i, 0) + p(i, 1) * p(i, 2);
    }
  }
};

// The components in another order, under a condition, and with neighbours that other work items write.
struct turned : program<turned> {
  in<f32, N, 4> x;
  out<f32, N, 4> y, some;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      for (int k : {2, 0, 3, 1}) y(i, k) = x(i, 3 - k) + x(i + 1, k);
      if (auto c = when(x(i, 0) > 0))
        for (int k = 0; k < 4; ++k) some(i, k) = x(i, k);
    }
  }
};

// Inside a loop whose state the iterations pass on.
struct in_loop : program<in_loop> {
  in<f32, N, 2> x;
  inout<f32, N, 2> y;
  constexpr void body() {
    for (auto [i] : kernel(N))
      for (auto k : loop(3)) {
        auto a = y(i, 0), b = y(i, 1);
        y(i, 1) = a + x(i, 1);
        y(i, 0) = b * 0.5f + y(i, 1) + cast<f32>(k);
      }
  }
};

// A component that only the call knows, and one that may be written under a condition, are read between writes of all
// components. The results are used when all writes are done.
struct between : program<between> {
  in<f32, N, 2> x;
  in<i32> m;
  inout<f32, N, 2> y, z;
  out<f32, N> of_y, of_z;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      for (int k : {0, 1}) y(i, k) = x(i, k) + 1.0f;
      auto read = y(i, m);
      for (int k : {0, 1}) y(i, k) = x(i, k) * 3.0f;
      of_y(i) = read;
    }
    for (auto [i] : kernel(N)) {
      for (int k : {0, 1}) z(i, k) = x(i, k) + 1.0f;
      if (auto c = when(x(i, 0) > 0)) z(i, 1) = x(i, 0);
      auto read = z(i, 1);
      for (int k : {1, 0}) z(i, k) = x(i, k) * 3.0f;
      of_z(i) = read;
    }
  }
};

TEST(Components, ReadBetweenWrites) {
  for (const std::int64_t n : lengths)
    for (const int m : {0, 1})
      scopes::run(ir<between>,
                  {scopes::tensor({n, 2}, numbers(2 * n, 1)), scopes::scalar(m), scopes::tensor({n, 2}, numbers(2 * n, 2)),
                   scopes::tensor({n, 2}, numbers(2 * n, 3)), scopes::output<float>({n}), scopes::output<float>({n})});
}

TEST(Components, OfPointsInKernels) {
  for (const std::int64_t n : lengths) {
    scopes::run(ir<in_place>, {scopes::tensor({n, 3}, numbers(3 * n, 1)), scopes::tensor({n, 3}, numbers(3 * n, 2)),
                               scopes::tensor({}, numbers(1, 3))});
    scopes::run(ir<turned>,
                {scopes::tensor({n, 4}, numbers(4 * n, 4)), scopes::output<float>({n, 4}), scopes::output<float>({n, 4})});
    scopes::run(ir<in_loop>, {scopes::tensor({n, 2}, numbers(2 * n, 5)), scopes::tensor({n, 2}, numbers(2 * n, 6))});
  }
}

// Rows that are named several times: rounding depends on their order. overlap: rows of which neighbours share elements.
struct added_rows : program<added_rows> {
  inout<f32, 5, M> table;
  in<i32, N> row;
  in<f32, N, M> x;
  out<f32, N + M> overlap;
  constexpr void body() {
    table(row) += x;
    for (auto [i, j] : kernel(N, M)) overlap(i + j).atomic_add(x(i, j));
  }
};

TEST(Components, OfRowsThatAreAdded) {
  for (const std::int64_t n : {0, 1, 2, 50})
    for (const std::int64_t m : lengths) {
      std::vector<int> rows;
      for (std::int64_t i = 0; i < n; ++i) rows.push_back(static_cast<int>(i * i % 7 - 1));
      const auto r = scopes::run(ir<added_rows>, {scopes::tensor({5, m}, numbers(5 * m, 7)), scopes::tensor({n}, rows),
                                                  scopes::tensor({n, m}, numbers(n * m, 8)), scopes::output<float>({n + m})});
      std::vector<float> overlap(static_cast<std::size_t>(n + m));
      const auto x = numbers(n * m, 8);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < m; ++j) overlap[static_cast<std::size_t>(i + j)] += x[static_cast<std::size_t>(i * m + j)];
      EXPECT_EQ(scopes::values<float>(r["overlap"]), overlap);
    }
}

}  // namespace

}  // namespace components_test
