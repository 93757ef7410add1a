// Loops along rows whose iterations wait for the one before: neighbouring rows are lanes, although their elements are far
// apart. scopes::run compares the compiled program with the interpreter, bit for bit.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/run/scopes/run_scopes.h"

namespace row_chains_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

struct filtered : program<filtered> {
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto before = var(0.0f), two_before = var(0.0f);
      for (auto t : loop(M)) {
        auto next = 0.4f * x(i, t) + 0.9f * before - 0.3f * two_before;
        y(i, t) = next;
        two_before = before;
        before = next;
      }
    }
  }
};

struct tridiagonal : program<tridiagonal> {  // Thomas' algorithm for a system in each row
  in<f64, N, 9> a, b, c, d;
  out<f64, N, 9> x;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto upper = local<f64, 9>(), right = local<f64, 9>();
      auto u = var(0.0), v = var(0.0);
      for (auto k : loop(9)) {
        auto pivot = 1 / (b(i, k) - a(i, k) * u);
        v = (d(i, k) - a(i, k) * v) * pivot;
        u = c(i, k) * pivot;
        upper(k) = u;
        right(k) = v;
      }
      auto solution = var(0.0);
      for (auto t : loop(9)) {
        auto k = 8 - t;
        solution = right(k) - upper(k) * solution;
        x(i, k) = solution;
      }
    }
  }
};

struct largest : program<largest> {
  in<f32, N, M> x;
  out<i32, N> at;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto most = var(-1000.0f);
      auto place = var(-1);
      for (auto t : loop(M))
        if (auto c = when(x(i, t) > most)) {
          most = x(i, t);
          place = t;
        }
      at(i) = place;
    }
  }
};

struct long_rows : program<long_rows> {  // 64 KiB each
  in<f32, 6, 16384> x;
  out<f32, 6, 16384> y;
  constexpr void body() {
    for (auto [i] : kernel(6)) {
      auto mean = var(0.0f);
      for (auto t : loop(16384)) {
        mean = 0.75f * mean + 0.25f * x(i, t);
        y(i, t) = mean;
      }
    }
  }
};

template <class T>
std::vector<T> numbers(std::int64_t n, int from) {
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<T>((i * 7919 + from) % 101 - 50) / 16);
  return v;
}

const std::int64_t rows[] = {0, 1, 3, 4, 7, 8, 9, 12, 13, 20};

TEST(RowChains, RecursiveFilter) {
  for (const std::int64_t n : rows)
    for (const std::int64_t m : {0, 1, 17})
      (void)scopes::run(ir<filtered>, {scopes::tensor({n, m}, numbers<float>(n * m, 3)), scopes::output<float>({n, m})});
}

TEST(RowChains, TridiagonalSystems) {
  for (const std::int64_t n : rows) {
    std::vector<scopes::Array> arguments;
    for (const int from : {3, 5, 7, 11}) arguments.push_back(scopes::tensor({n, 9}, numbers<double>(n * 9, from)));
    arguments.push_back(scopes::output<double>({n, 9}));
    (void)scopes::run(ir<tridiagonal>, arguments);
  }
}

TEST(RowChains, PlaceOfTheLargest) {
  for (const std::int64_t n : rows)
    (void)scopes::run(ir<largest>, {scopes::tensor({n, 31}, numbers<float>(n * 31, 3)), scopes::output<int>({n})});
}

TEST(RowChains, RowsThatShareSetsOfTheCache) {
  (void)scopes::run(ir<long_rows>,
                    {scopes::tensor({6, 16384}, numbers<float>(6 * 16384, 3)), scopes::output<float>({6, 16384})});
}

}  // namespace

}  // namespace row_chains_test
