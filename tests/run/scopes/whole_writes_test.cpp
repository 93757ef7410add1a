// Outputs begin as zeros. If a kernel writes every element before any read, no kernel stores these zeros. If it may leave an
// element out, a kernel stores them.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/run/scopes/run_scopes.h"

namespace whole_writes_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

std::vector<int> numbers(std::int64_t n) {
  std::vector<int> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<int>((i * 7919 + 13) % 101 - 50));
  return v;
}

// Every element is written, in different ways: an order of its own, constant components, rows that another axis selects.
struct wholly : program<wholly> {
  in<i32, N, M> x;
  out<i32, M, N> turned;
  out<i32, N, M, 2> both;
  out<i32, 2, N, M> planes;
  out<i32, 3, N, M> every_third;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) {
      turned(j, i) = x(i, j);
      both(i, j, 1) = x(i, j) + 1;
      both(i, j, 0) = both(i, j, 1) + 1;
      for (int k = 0; k < 2; ++k) planes(k, i, j) = x(i, j) - k;
      for (int k : {2, 0, 1}) every_third(k, i, j) = 3 * x(i, j) + k;
    }
  }
};

TEST(WholeWrites, NeedNoZeros) {
  EXPECT_EQ(scopes::all_kernels(ir<wholly>), 1);
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {1, 1}, {3, 0}, {4, 7}, {33, 20}}) {
    const auto x = numbers(n * m);
    const auto r =
        scopes::run(ir<wholly>, {scopes::tensor({n, m}, x), scopes::output<int>({m, n}), scopes::output<int>({n, m, 2}),
                                 scopes::output<int>({2, n, m}), scopes::output<int>({3, n, m})});
    std::vector<int> turned(x.size()), both(2 * x.size()), planes(2 * x.size()), every_third(3 * x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = i / static_cast<std::size_t>(m), column = i % static_cast<std::size_t>(m);
      turned[column * static_cast<std::size_t>(n) + row] = x[i];
      both[2 * i + 1] = x[i] + 1;
      both[2 * i] = x[i] + 2;
      for (std::size_t k = 0; k < 2; ++k) planes[k * x.size() + i] = x[i] - static_cast<int>(k);
      for (std::size_t k = 0; k < 3; ++k) every_third[k * x.size() + i] = 3 * x[i] + static_cast<int>(k);
    }
    EXPECT_EQ(scopes::values<int>(r["turned"]), turned);
    EXPECT_EQ(scopes::values<int>(r["both"]), both);
    EXPECT_EQ(scopes::values<int>(r["planes"]), planes);
    EXPECT_EQ(scopes::values<int>(r["every_third"]), every_third);
  }
}

// An element's number in i64 cannot wrap: the tensor has N * M elements.
struct by_number : program<by_number> {
  in<i32, N, M> x;
  out<i32, N * M> y;
  constexpr void body() {
    for (auto [i, j] : kernel<i64>(N, M)) y(i * M + j) = x(i, j);
  }
};

TEST(WholeWrites, ByNumber) {
  EXPECT_EQ(scopes::all_kernels(ir<by_number>), 1);
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {1, 1}, {3, 0}, {4, 7}, {33, 20}}) {
    const auto x = numbers(n * m);
    const auto r = scopes::run(ir<by_number>, {scopes::tensor({n, m}, x), scopes::output<int>({n * m})});
    EXPECT_EQ(scopes::values<int>(r["y"]), x);
  }
}

// Each work item writes a block of neighbours in rows and columns. In `three` of them a fourth is missing.
struct blocks : program<blocks> {
  in<i32, 5, 7> x;
  out<i32, 10, 14> all;
  out<i32, 10, 21> wide;
  constexpr void body() {
    for (auto [i, j] : kernel(5, 7)) {
      all(2 * i + 1, 2 * j) = x(i, j) + 2;
      all(2 * i, 2 * j + 1) = x(i, j) + 1;
      all(2 * i, 2 * j) = x(i, j);
      all(2 * i + 1, 2 * j + 1) = x(i, j) + 3;
      for (int k = 0; k < 6; ++k) wide(2 * i + k / 3, 3 * j + k % 3) = x(i, j) - k;
    }
  }
};
struct three : program<three> {
  in<i32, 5, 7> x;
  out<i32, 10, 14> y;
  constexpr void body() {
    for (auto [i, j] : kernel(5, 7))
      for (int k = 0; k < 3; ++k) y(2 * i + k / 2, 2 * j + k % 2) = x(i, j) - k;
  }
};

TEST(WholeWrites, Blocks) {
  EXPECT_EQ(scopes::all_kernels(ir<blocks>), 1);
  EXPECT_EQ(scopes::all_kernels(ir<three>), 2);
  const auto x = scopes::tensor({5, 7}, numbers(35));
  scopes::run(ir<blocks>, {x, scopes::output<int>({10, 14}), scopes::output<int>({10, 21})});
  scopes::run(ir<three>, {x, scopes::output<int>({10, 14})});
}

// The loops of work items write every element: in ascending and descending order, and before they read it. The writes of `down`
// have the condition 0 < N if N is no constant.
template <auto Rows>
struct in_loops : program<in_loops<Rows>> {
  in<i32, Rows, M> x;
  out<i32, Rows, M> up, down, read_later;
  constexpr void body() {
    for (auto [j] : this->kernel(M)) {
      for (auto i : this->loop(Rows)) {
        up(i, j) = x(i, j);
        down(x.template size<0>() - 1 - i, j) = x(i, j);
        read_later(i, j) = x(i, j) + 1;
      }
      for (auto i : this->loop(Rows))
        if (auto c = this->when(x(i, j) > 0)) read_later(i, j) = read_later(i, j) * 2;
    }
  }
};
// Row 0 is not written; elements are read that a later iteration writes; a condition may end the loop.
struct not_in_loops : program<not_in_loops> {
  in<i32, N, M> x;
  out<i32, N, M> without_first, before, until;
  constexpr void body() {
    for (auto [j] : kernel(M)) {
      for (auto i : loop(1, N)) without_first(i, j) = x(i, j);
      for (auto i : loop(N)) {
        before(i, j) = x(i, j);
        before(i, j) = before(i, j) + before(x.size<0>() - 1, j);
      }
      for (auto i : loop(N)) {
        break_if(x(i, j) > 40);
        until(i, j) = x(i, j);
      }
    }
  }
};

TEST(WholeWrites, Loops) {
  EXPECT_EQ(scopes::all_kernels(ir<in_loops<33>>), 1);
  EXPECT_EQ(scopes::all_kernels(ir<in_loops<N>>), 1);
  EXPECT_EQ(scopes::all_kernels(ir<not_in_loops>), 4);
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {1, 1}, {3, 0}, {4, 7}, {33, 70}}) {
    const auto x = scopes::tensor({n, m}, numbers(n * m)), y = scopes::output<int>({n, m});
    scopes::run(ir<in_loops<N>>, {x, y, y, y});
    if (n == 33) scopes::run(ir<in_loops<33>>, {x, y, y, y});
    if (n > 0) scopes::run(ir<not_in_loops>, {x, y, y, y});
  }
}

// Each output has elements that are never written, or that are read first.
struct partly : program<partly> {
  in<i32, N> x;
  out<i32, N, 3> outer;  // the middle is not written
  out<i32, N> positive;  // not all rows are written
  out<i32, N> until;     // some rows end their iteration before the write
  out<i32, N> first;     // nothing is written if M is 0
  in<i32, M> counted;
  out<i32, N, 2> before;  // component 1 is read when only component 0 is written
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      outer(i, 0) = x(i);
      outer(i, 2) = -x(i);
      if (auto c = when(x(i) > 0)) positive(i) = x(i);
      before(i, 0) = x(i);
      before(i, 1) = before(i, 1) + 1;
      for ([[maybe_unused]] auto j : loop(M)) first(i) = x(i);
      for (auto j : loop(1)) {
        break_if(x(i) > 10);
        until(i) = x(i) + j;
      }
    }
  }
};

TEST(WholeWrites, PartsNeedZeros) {
  EXPECT_EQ(scopes::all_kernels(ir<partly>), 6);
  for (const std::int64_t n : {0, 1, 40})
    for (const std::int64_t m : {0, 2}) {
      const auto x = numbers(n);
      const auto r = scopes::run(
          ir<partly>, {scopes::tensor({n}, x), scopes::output<int>({n, 3}), scopes::output<int>({n}), scopes::output<int>({n}),
                       scopes::output<int>({n}), scopes::tensor({m}, numbers(m)), scopes::output<int>({n, 2})});
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(scopes::values<int>(r["outer"])[3 * i + 1], 0);
        EXPECT_EQ(scopes::values<int>(r["outer"])[3 * i + 2], -x[i]);
        EXPECT_EQ(scopes::values<int>(r["positive"])[i], x[i] > 0 ? x[i] : 0);
        EXPECT_EQ(scopes::values<int>(r["until"])[i], x[i] > 10 ? 0 : x[i]);
        EXPECT_EQ(scopes::values<int>(r["first"])[i], m > 0 ? x[i] : 0);
        EXPECT_EQ(scopes::values<int>(r["before"])[2 * i + 1], 1);
      }
    }
}

// A loop that may have no iteration, and a kernel under a condition, leave the zeros.
struct perhaps : program<perhaps> {
  in<i32> iterations;
  in<i32, N> x;
  out<i32, N, 2> y, z;
  constexpr void body() {
    for (auto t : loop(iterations))
      for (auto [i] : kernel(N))
        for (int c : {0, 1}) y(i, c) = x(i) + t;
    if (auto c = when(iterations > 3))
      for (auto [i] : kernel(N))
        for (int k : {0, 1}) z(i, k) = x(i) + k;
  }
};

TEST(WholeWrites, LoopsWithoutIterationsLeaveZeros) {
  for (const int iterations : {0, 1, 2, 5}) {
    const auto x = numbers(9);
    const auto r = scopes::run(ir<perhaps>, {scopes::scalar(iterations), scopes::tensor({9}, x), scopes::output<int>({9, 2}),
                                             scopes::output<int>({9, 2})});
    for (std::size_t i = 0; i < 18; ++i) {
      EXPECT_EQ(scopes::values<int>(r["y"])[i], iterations > 0 ? x[i / 2] + iterations - 1 : 0) << iterations;
      EXPECT_EQ(scopes::values<int>(r["z"])[i], iterations > 3 ? x[i / 2] + static_cast<int>(i % 2) : 0) << iterations;
    }
  }
}

}  // namespace

}  // namespace whole_writes_test
