// t(range<4>(k)): blocks at computed places, read and written in every mode. Blocked factorisations.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/run/scopes/run_scopes.h"

namespace ranges_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

using Ints = std::vector<int>;
using Longs = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
Ints numbers(std::int64_t n) {
  Ints out;
  for (int i = 0; i < n; ++i) out.push_back(i * 7 % 101);
  return out;
}
std::int64_t clamped(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }
std::int64_t floormod(std::int64_t a, std::int64_t n) { return (a % n + n) % n; }

struct reads : program<reads> {
  in<i32, N, M> x;
  in<i32> k;
  in<i64> far;
  in<u8> small;
  out<i32, 3, 2> block, wrapped, constant, computed, unchecked;
  out<i32, 3, M> rows;
  out<i32, N, 2> columns;
  out<i32, 2> row, column;
  out<i32, 2, M> symbolic;
  constexpr void body() {
    block = x(range<3>(k), range<2>(small));
    wrapped = x.at<mode::wrap>(range<3>(k), range<2>(k - 7));
    constant = x.at<mode::constant>(range<3>(k), range<2>(far), -7);
    computed = (x * 2)(range<3>(k), range<2>(1));
    unchecked = x.at<mode::unchecked>(range<3>(0), range<2>(1));
    rows = x(range<3>(far));
    columns = x(range<N>(0), range<2>(k));
    row = x(k, range<2>(-1));
    column = x(range<2>(k + 1), small);
    symbolic = x(range<2>(0), range<M>(far));
  }
};

TEST(Ranges, AreBlocks) {
  const std::int64_t n = 5, m = 4;
  const Ints x = numbers(n * m);
  const auto e = [&](std::int64_t i, std::int64_t j) { return x[at(clamped(i, n) * m + clamped(j, m))]; };
  for (const std::int64_t k : {-2, 0, 3, 4, 9})
    for (const std::int64_t far : {std::int64_t{-1}, std::int64_t{2}, INT64_MAX, INT64_MIN}) {
      const std::uint8_t small = 2;
      std::vector<scopes::Array> a = {scopes::tensor({n, m}, x), scopes::scalar(static_cast<int>(k)), scopes::scalar(far),
                                      scopes::scalar(small)};
      for (int i = 0; i < 5; ++i) a.push_back(scopes::output<int>({3, 2}));
      a.push_back(scopes::output<int>({3, m}));
      a.push_back(scopes::output<int>({n, 2}));
      a.push_back(scopes::output<int>({2}));
      a.push_back(scopes::output<int>({2}));
      a.push_back(scopes::output<int>({2, m}));
      const auto r = scopes::run(ir<reads>, a);
      Ints block, wrapped, constant, computed, unchecked, rows, columns, row, column, symbolic;
      const auto f = [&](std::int64_t j) {  // indices are i64
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(far) + static_cast<std::uint64_t>(j));
      };
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j) {
          block.push_back(e(k + i, 2 + j));
          wrapped.push_back(x[at(floormod(k + i, n) * m + floormod(k - 7 + j, m))]);
          const bool inside = k + i >= 0 && k + i < n && f(j) >= 0 && f(j) < m;
          constant.push_back(inside ? x[at((k + i) * m + f(j))] : -7);
          computed.push_back(2 * e(k + i, 1 + j));
          unchecked.push_back(e(i, 1 + j));
        }
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < m; ++j) rows.push_back(e(f(i), j));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 2; ++j) columns.push_back(e(i, k + j));
      for (int j = 0; j < 2; ++j) row.push_back(e(k, j - 1)), column.push_back(e(k + 1 + j, 2));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < m; ++j) symbolic.push_back(e(i, f(j)));
      SCOPED_TRACE(std::to_string(k) + " " + std::to_string(far));
      EXPECT_EQ(scopes::values<int>(r["block"]), block);
      EXPECT_EQ(scopes::values<int>(r["wrapped"]), wrapped);
      EXPECT_EQ(scopes::values<int>(r["constant"]), constant);
      EXPECT_EQ(scopes::values<int>(r["computed"]), computed);
      EXPECT_EQ(scopes::values<int>(r["unchecked"]), unchecked);
      EXPECT_EQ(scopes::values<int>(r["rows"]), rows);
      EXPECT_EQ(scopes::values<int>(r["columns"]), columns);
      EXPECT_EQ(scopes::values<int>(r["row"]), row);
      EXPECT_EQ(scopes::values<int>(r["column"]), column);
      EXPECT_EQ(scopes::values<int>(r["symbolic"]), symbolic);
    }
}

struct writes : program<writes> {
  in<i32, 3, 2> e;
  in<i32> k, j;
  inout<i32, N, M> put, skipped, sums, products, wrapped, counted;
  inout<i32, N> line;
  out<i32, 3, 2> before;
  constexpr void body() {
    put(range<3>(k), range<2>(j)) = e;
    skipped.at<mode::skip>(range<3>(k), range<2>(j)) = e;
    sums(range<3>(k), range<2>(j)) += e;
    products(range<3>(k), range<2>(j)) *= e;
    wrapped.at<mode::wrap>(range<3>(k), range<2>(j)) -= e;
    before = counted.at<mode::skip>(range<3>(k), range<2>(j)).atomic_max(e);
    for (auto [i] : kernel<i64>(N)) line.at<mode::skip>(range<2>(2 * i)) *= 2;
  }
};

TEST(Ranges, AreWritten) {
  const std::int64_t n = 5, m = 4;
  const Ints e = {3, 1, 4, 1, 5, 9};
  for (const int k : {-2, 0, 1, 4})
    for (const int j : {-1, 1, 3}) {
      Ints put = numbers(n * m), line = numbers(n), before(6);
      Ints skipped = put, sums = put, products = put, wrapped = put, counted = put;
      std::vector<scopes::Array> a = {scopes::tensor({3, 2}, e), scopes::scalar(k), scopes::scalar(j)};
      for (int i = 0; i < 6; ++i) a.push_back(scopes::tensor({n, m}, put));
      a.push_back(scopes::tensor({n}, line));
      a.push_back(scopes::output<int>({3, 2}));
      const auto r = scopes::run(ir<writes>, a);
      for (int s = 0; s < 3; ++s)
        for (int t = 0; t < 2; ++t) {
          const int v = e[at(s * 2 + t)];
          const std::size_t near = at(clamped(k + s, n) * m + clamped(j + t, m));
          put[near] = v, sums[near] += v, products[near] *= v;
          wrapped[at(floormod(k + s, n) * m + floormod(j + t, m))] -= v;
          if (k + s < 0 || k + s >= n || j + t < 0 || j + t >= m) continue;
          skipped[near] = v;
          before[at(s * 2 + t)] = counted[near];
          counted[near] = std::max(counted[near], v);
        }
      for (int& v : line) v *= 2;
      SCOPED_TRACE(std::to_string(k) + " " + std::to_string(j));
      EXPECT_EQ(scopes::values<int>(r["put"]), put);
      EXPECT_EQ(scopes::values<int>(r["skipped"]), skipped);
      EXPECT_EQ(scopes::values<int>(r["sums"]), sums);
      EXPECT_EQ(scopes::values<int>(r["products"]), products);
      EXPECT_EQ(scopes::values<int>(r["wrapped"]), wrapped);
      EXPECT_EQ(scopes::values<int>(r["counted"]), counted);
      EXPECT_EQ(scopes::values<int>(r["line"]), line);
      EXPECT_EQ(scopes::values<int>(r["before"]), before);
    }
}

// Right-looking, in blocks of 4: the diagonal block, then the panel below it, then a product for each remaining block. If N is
// not a multiple of 4, blocks exceed the matrix: reads there give the identity, and writes there are dropped.
struct blocked_cholesky : program<blocked_cholesky> {
  inout<f64, N, N> w;
  constexpr void factor(auto const& k) {
    for (auto o : once())
      for (auto c : loop(4))
        if (auto inside = when(k + c < size<N, i32>())) {
          auto d = sqrt(w(k + c, k + c));
          w(k + c, k + c) = d;
          for (auto r : loop(k + c + 1, N)) w(r, k + c) = w(r, k + c) / d;
          for (auto j : loop(c + 1, 4))
            for (auto r : loop(k + j, N))
              if (auto here = when(k + j < size<N, i32>())) w(r, k + j) -= w(r, k + c) * w(k + j, k + c);
        }
  }
  constexpr void body() {
    for (auto k : loop(0, N, 4)) {
      factor(k);
      for (auto i : loop(k + 4, N, 4))
        for (auto j : loop(k + 4, i + 1, 4)) {
          auto left = w.at<mode::constant>(range<4>(i), range<4>(k), 0);
          auto right = w.at<mode::constant>(range<4>(j), range<4>(k), 0);
          w.at<mode::skip>(range<4>(i), range<4>(j)) -= matmul(left, transpose(right));
        }
    }
  }
};

TEST(Ranges, BlockedCholesky) {
  for (const int n : {1, 4, 7, 16, 21}) {
    std::vector<double> a;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) a.push_back(i == j ? n : 1.0 / (1 + std::max(i - j, j - i)));
    const auto r = scopes::run(ir<blocked_cholesky>, {scopes::tensor({n, n}, a)});
    const auto l = scopes::values<double>(r["w"]);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int k = 0; k <= j; ++k) sum += l[at(i * n + k)] * l[at(j * n + k)];
        EXPECT_NEAR(sum, a[at(i * n + j)], 1e-12) << n << " " << i << " " << j;
      }
  }
}

}  // namespace

}  // namespace ranges_test
