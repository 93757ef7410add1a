// Loops over elements outside of kernels, and in kernels without lanes: their iterations become lanes where none of a vector
// needs what another one stores. scopes::run compares the compiled program with the interpreter, bit for bit.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>

#include "tests/run/scopes/run_scopes.h"

namespace loop_lanes_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"P"> P;

struct shortest_paths : program<shortest_paths> {
  inout<f32, N, N> d;
  constexpr void body() {
    for (auto k : loop(N))
      for (auto i : loop(N))
        for (auto j : loop(N)) d(i, j) = min(d(i, j), d(i, k) + d(k, j));
  }
};

struct closure : program<closure> {
  inout<bool, N, N> r;
  constexpr void body() {
    for (auto k : loop(N))
      for (auto i : loop(N))
        for (auto j : loop(N)) r(i, j) = r(i, j) || (r(i, k) && r(k, j));
  }
};

// The pivot is loaded in each iteration: the loop changes it if i is k, and the elements that all iterations load are two.
struct eliminated : program<eliminated> {
  inout<f64, N, M> a;
  constexpr void body() {
    for (auto k : loop(N))
      for (auto i : loop(N))
        for (auto j : loop(M)) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
  }
};

struct lower_upper : program<lower_upper> {
  inout<f64, N, N> a;
  constexpr void body() {
    for (auto k : loop(N))
      for (auto i : loop(k + 1, N)) {
        a(i, k) /= a(k, k);
        for (auto j : loop(k + 1, N)) a(i, j) -= a(i, k) * a(k, j);
      }
  }
};

struct neighbours : program<neighbours> {  // the one behind, then the one before, then the one 8 before
  inout<f32, N> y;
  constexpr void body() {
    for (auto i : loop(size<N, i32>() - 1)) y(i) = 0.5f * y(i) + y(i + 1);
    for (auto i : loop(1, N)) y(i) = 0.5f * y(i) + y(i - 1);
    for (auto i : loop(8, N)) y(i) = 0.5f * y(i) + y(i - 8);
    for (auto i : loop(17, N)) y(i) = 0.5f * y(i) + y(i - 17);
  }
};

struct at_a_distance : program<at_a_distance> {  // known in the call only
  in<i32> from;
  inout<f32, N> y;
  constexpr void body() {
    for (auto i : loop(20)) y(i + 40) = 0.5f * y(i + 40) + y(i + from);
  }
};

struct one_element : program<one_element> {  // an element that an iteration stores and all others load
  in<i32> at;
  inout<i32, N> y;
  constexpr void body() {
    for (auto i : loop(N)) y(i) = 3 * y(i) + y(at);
  }
};

struct stored_before : program<stored_before> {  // the load of one element follows the store
  in<i32> at;
  inout<i32, N> y;
  out<i32, N> z;
  constexpr void body() {
    for (auto i : loop(N)) {
      y(i) = 3 * y(i) + 1;
      z(i) = y(at);
    }
  }
};

struct scaled_rows : program<scaled_rows> {  // a kernel without lanes
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = var(0.0f);
      for (auto j : loop(M)) s += x(i, j) * x(i, j);
      for (auto j : loop(M)) y(i, j) = x(i, j) * s;
    }
  }
};

struct bags : program<bags> {  // loops over rows whose bounds depend on the row of the result
  in<i32, P> first;
  in<i32, M> row;
  in<f32, N, 64> table;
  out<f32, P, 64> y;
  out<f32, P, 200> wide;
  constexpr void body() {
    for (auto [i, j] : kernel(P, 64)) {
      auto s = var(0.0f);
      for (auto k : loop(first(i), first(i + 1))) s += table(row(k), j);
      y(i, j) = s;
    }
    for (auto [i, j] : kernel(P, 200)) {
      auto s = var(0.0f);
      for (auto k : loop(first(i), first(i + 1))) s += table(row(k), j / 4);
      wide(i, j) = s;
    }
  }
};

struct positions : program<positions> {  // indices from data, some of them out of bounds, in loops with breaks
  in<i32, M> at;
  in<f32, N> x;
  out<f32, M> y;
  inout<f32, N> sums;
  out<i32> steps;
  constexpr void body() {
    for (auto i : loop(M)) y(i) = x(at(i));
    for (auto [i] : kernel(M)) sums(at(i)).atomic_add(x(i));
    auto k = var(0);
    steps = 0;
    for (auto o : forever()) {
      k = at(k) - 1;
      break_if(k < 0 || steps > 50);
      steps += 1;
    }
  }
};

std::vector<float> some(std::int64_t n) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>((i * 37 + 11) % 101) * 0.25f);
  return v;
}

struct suppressed : program<suppressed> {  // loops under conditions that none of their iterations changes
  in<f32, N> x;
  inout<i32, N> keep;
  out<i32, N> times;
  constexpr void body() {
    for (auto o : once())
      for (auto i : loop(N)) {
        if (auto c = when(keep(i) == 1)) {
          for (auto j : loop(i + 1, N))
            if (auto d = when(abs(x(i) - x(j)) < 0.5f)) keep(j) = 0;
          for (auto j : loop(i))
            if (auto d = when(x(j) < 1.0f)) {
              for (auto k : loop(j, i)) times(k) += 1;
            }
        }
        if (auto c = otherwise()) {
          for (auto j : loop(i, N)) times(j) -= j;
        }
      }
  }
};

TEST(LoopLanes, LoopsUnderConditions) {
  for (const std::int64_t n : {0, 1, 8, 9, 40})
    (void)scopes::run(ir<suppressed>,
                      {scopes::tensor({n}, some(n)), scopes::tensor({n}, std::vector<int>(static_cast<std::size_t>(n), 1)),
                       scopes::output<int>({n})});
}

TEST(LoopLanes, ShortestPaths) {
  for (const std::int64_t n : {0, 1, 3, 8, 9, 21}) {
    SCOPED_TRACE(n);
    std::vector<float> d = some(n * n);
    if (n > 8) d[5] = std::nanf(""), d[20] = -3, d[23] = -0.0f;
    const auto got = scopes::run(ir<shortest_paths>, {scopes::tensor({n, n}, d)});
    const auto at = [&](std::int64_t i, std::int64_t j) -> float& { return d[static_cast<std::size_t>(i * n + j)]; };
    if (n > 8) continue;  // with NaN: only compared with the interpreter
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) at(i, j) = std::min(at(i, j), at(i, k) + at(k, j));
    EXPECT_EQ(scopes::values<float>(got["d"]), d);
  }
}

TEST(LoopLanes, ClosureOfARelation) {
  for (const std::int64_t n : {1, 7, 19}) {
    std::vector<bool> r;
    for (std::int64_t i = 0; i < n * n; ++i) r.push_back(i * 7 % 5 == 0 && i % 3 == 0);
    (void)scopes::run(ir<closure>, {scopes::tensor({n, n}, r)});
  }
}

TEST(LoopLanes, Eliminations) {
  for (const std::int64_t n : {1, 2, 5, 18}) {
    std::vector<double> a;
    for (std::int64_t i = 0; i < n * (n + 6); ++i)
      a.push_back(static_cast<double>(i * 37 % 101) + (i % (n + 7) == 0 ? 200 : 0));
    (void)scopes::run(ir<eliminated>, {scopes::tensor({n, n + 6}, a)});
    a.resize(static_cast<std::size_t>(n * n));
    (void)scopes::run(ir<lower_upper>, {scopes::tensor({n, n}, a)});
  }
}

TEST(LoopLanes, Neighbours) {
  for (const std::int64_t n : {0, 1, 8, 9, 18, 43}) (void)scopes::run(ir<neighbours>, {scopes::tensor({n}, some(n))});
}

TEST(LoopLanes, ADistanceThatTheCallKnows) {
  for (const int from : {0, 24, 25, 31, 32, 33, 36, 39, 40, 41, 47, 48, 60, 99})
    (void)scopes::run(ir<at_a_distance>, {scopes::scalar(from), scopes::tensor({100}, some(100))});
}

TEST(LoopLanes, AnElementThatAllIterationsLoad) {
  for (const std::int64_t n : {1, 9, 30})
    for (const int at : {-1, 0, 1, 7, 8, 9, 15, 29, 30}) {
      std::vector<int> y(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<int>(i * 5 + 1);
      (void)scopes::run(ir<one_element>, {scopes::scalar(at), scopes::tensor({n}, y)});
      (void)scopes::run(ir<stored_before>, {scopes::scalar(at), scopes::tensor({n}, y), scopes::output<int>({n})});
    }
}

TEST(LoopLanes, KernelsWithoutLanes) {
  for (const std::int64_t m : {1, 8, 37})
    (void)scopes::run(ir<scaled_rows>, {scopes::tensor({3, m}, some(3 * m)), scopes::output<float>({3, m})});
}

TEST(LoopLanes, RowsBetweenBoundsFromData) {
  const std::vector<int> first{0, 3, 3, 7, 9}, row{4, 0, 2, 9, -1, 1, 1, 3, 2};
  (void)scopes::run(ir<bags>, {scopes::tensor({5}, first), scopes::tensor({9}, row), scopes::tensor({5, 64}, some(320)),
                               scopes::output<float>({5, 64}), scopes::output<float>({5, 200})});
}

TEST(LoopLanes, PositionsOutOfBounds) {
  const std::vector<int> at{3, -5, 900, 0, 2, 2, 7, 2147483647, -2147483647 - 1, 5, 1};
  for (const std::int64_t n : {0, 1, 6})
    (void)scopes::run(ir<positions>, {scopes::tensor({11}, at), scopes::tensor({n}, some(n)), scopes::output<float>({11}),
                                      scopes::tensor({n}, some(n)), scopes::scalar(0)});
}

}  // namespace

}  // namespace loop_lanes_test
