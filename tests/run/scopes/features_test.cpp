// Features of tests/conformance/features.md that no other test covers.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/program.h"
#include "generator/import.h"
#include "tests/run/compiled.h"
#include "tests/run/scopes/run_scopes.h"

namespace features_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;

// Indices, reshapes and permutations become index arithmetic: one kernel, no memory of their own.
struct index_arithmetic : program<index_arithmetic> {
  in<f32, N, M> x;
  out<f32, M * N> y;
  constexpr void body() { y = flatten(transpose(x) * cast<f32>(arange<N>() * 3 + 5)) + cast<f32>(arange<N * M>()); }
};

TEST(Features, PositionsAndMovementCostNothing) {
  const int n = 4, m = 7;
  std::vector<float> x;
  for (int i = 0; i < n * m; ++i) x.push_back(static_cast<float>(i * i % 19));
  const auto r = scopes::run(ir<index_arithmetic>, {scopes::tensor({n, m}, x), scopes::output<float>({n * m})});
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(scopes::values<float>(r["y"])[static_cast<std::size_t>(j * n + i)],
                x[static_cast<std::size_t>(i * m + j)] * static_cast<float>(3 * i + 5) + static_cast<float>(j * n + i));
  compiler::Graph g;
  const compiler::Program p = generator::import_program(g, ir<index_arithmetic>);
  const compiler::testing::CompiledProgram object(g, p);
  EXPECT_EQ(object.description()->n_kernels, 1);
}

struct diagonals : program<diagonals> {
  in<i32, N, M> x;
  out<i32, N, M> lower, upper;
  out<i32, N> diagonal;
  constexpr void body() {
    auto [i, j] = indices(x);
    lower = select(i >= j, x, 0);
    upper = select(i <= j, x, 0);
    diagonal = sum<1>(select(i == j, x, 0));
  }
};

TEST(Features, Diagonals) {
  const int n = 4, m = 6;
  std::vector<int> x;
  for (int i = 0; i < n * m; ++i) x.push_back(i * 7 + 1);
  const auto r = scopes::run(ir<diagonals>, {scopes::tensor({n, m}, x), scopes::output<int>({n, m}),
                                             scopes::output<int>({n, m}), scopes::output<int>({n})});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(i * m + j);
      EXPECT_EQ(scopes::values<int>(r["lower"])[at], i >= j ? x[at] : 0);
      EXPECT_EQ(scopes::values<int>(r["upper"])[at], i <= j ? x[at] : 0);
      if (i != j) continue;
      EXPECT_EQ(scopes::values<int>(r["diagonal"])[static_cast<std::size_t>(i)], x[at]);
    }
}

// Integer tensors select the element on every axis, for reads and writes.
struct gathers : program<gathers> {
  in<f32, N, M> x;
  in<i32, K> row, column;
  out<f32, K> picked;
  out<f32, N, M> placed;
  constexpr void body() {
    placed = 0.0f;
    for (auto [k] : kernel(K)) {
      picked(k) = x(row(k), column(k));
      placed(row(k), column(k)).atomic_add(x(k, 0));
    }
  }
};

TEST(Features, GatherAndScatterOnAllAxes) {
  const int n = 3, m = 5;
  std::vector<float> x;
  for (int i = 0; i < n * m; ++i) x.push_back(static_cast<float>(i));
  const std::vector<int> row = {2, 0, 1, 2, 2, 0}, column = {4, 0, 3, 4, 1, 2};
  const auto r = scopes::run(ir<gathers>, {scopes::tensor({n, m}, x), scopes::tensor({6}, row), scopes::tensor({6}, column),
                                           scopes::output<float>({6}), scopes::output<float>({n, m})});
  std::vector<float> picked, placed(x.size());
  for (std::size_t k = 0; k < 6; ++k) {
    const auto at = static_cast<std::size_t>(row[k] * m + column[k]);
    picked.push_back(x[at]);
    placed[at] += x[std::min<std::size_t>(k, n - 1) * m];
  }
  EXPECT_EQ(scopes::values<float>(r["picked"]), picked);
  EXPECT_EQ(scopes::values<float>(r["placed"]), placed);
}

// Float sums depend on their order. It is the order of the work items, for any number of threads.
struct scattered_sums : program<scattered_sums> {
  in<f32, N> x;
  in<i32, N> where;
  inout<f32, 5> sums, products;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      sums(where(i)).atomic_add(x(i));
      auto before = sums.at<mode::wrap>(where(i) + 1).atomic_exchange(x(i) * 0.5f);
      products(where(i)).atomic_add(before * 0.1f);
    }
  }
};

TEST(Features, FloatScattersAreDeterministic) {
  const int n = 20000;
  std::vector<float> x;
  std::vector<int> where;
  for (int i = 0; i < n; ++i) x.push_back(1.0f / static_cast<float>(i * 37 % 1009 + 1)), where.push_back(i * i % 7);
  const std::vector<float> start(5, 0.1f);
  const auto r = scopes::run(ir<scattered_sums>, {scopes::tensor({n}, x), scopes::tensor({n}, where),
                                                  scopes::tensor({5}, start), scopes::tensor({5}, start)});
  std::vector<float> sums = start, products = start;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::size_t>(std::min(where[i], 4)), next = static_cast<std::size_t>((where[i] + 1) % 5);
    sums[at] += x[i];
    const float before = sums[next], part = before * 0.1f;
    sums[next] = x[i] * 0.5f;
    products[at] += part;
  }
  EXPECT_EQ(scopes::values<float>(r["sums"]), sums);
  EXPECT_EQ(scopes::values<float>(r["products"]), products);
}

// Indices that are contiguous in some vectors and not in others, with and without conditions.
struct displaced : program<displaced> {
  in<f32, N> x;
  in<i32, M> where;
  out<f32, M> always, sometimes;
  constexpr void body() {
    for (auto [k] : kernel(M)) {
      always(k) = x(where(k)) + x(where(k) + 1);
      auto v = var(-1.0f);
      if (auto even = when(k % 2 == 0 || k > 40)) v = x.at<mode::unchecked>(where(k));
      sometimes(k) = v;
    }
  }
};

TEST(Features, GathersInARowAndApart) {
  const int n = 90;
  std::vector<float> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i * i));
  for (const int jump : {0, 1, 5, 16, 17, 33, 64, 70}) {
    std::vector<int> where;
    for (int k = 0; k < 71; ++k) where.push_back(k < jump ? k + 7 : k == jump ? 3 : 88 - k);
    for (int k = 20; k < 40; k += 2) where[static_cast<std::size_t>(k)] = k;  // contiguous except in lanes that do not read
    const auto r = scopes::run(ir<displaced>, {scopes::tensor({n}, x), scopes::tensor({71}, where), scopes::output<float>({71}),
                                               scopes::output<float>({71})});
    for (std::size_t k = 0; k < 71; ++k) {
      const auto at = static_cast<std::size_t>(where[k]);
      EXPECT_EQ(scopes::values<float>(r["always"])[k], x[at] + x[at + 1]);
      EXPECT_EQ(scopes::values<float>(r["sometimes"])[k], k % 2 == 0 || k > 40 ? x[at] : -1.0f);
    }
  }
}

// A function of scalars, applied to each element.
constexpr auto root(Operand auto const& a) {
  auto s = scope(a);
  auto x = s.var(a);
  for ([[maybe_unused]] auto k : s.loop(20)) x = 0.5f * (x + a / x);
  return x + 0.0f;
}
struct mapped : program<mapped> {
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) y(i, j) = root(x(i, j));
  }
};

TEST(Features, FunctionsAreMapped) {
  std::vector<float> x;
  for (int i = 0; i < 30; ++i) x.push_back(static_cast<float>(i + 1));
  const auto r = scopes::run(ir<mapped>, {scopes::tensor({5, 6}, x), scopes::output<float>({5, 6})});
  for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(scopes::values<float>(r["y"])[i], std::sqrt(x[i]), 1e-5f);
}

}  // namespace

}  // namespace features_test
