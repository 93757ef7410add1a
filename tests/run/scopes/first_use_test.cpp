// Programs of first users: values read before a write, negative extents and indices, reads of a work item's own writes.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace first_use_test {

using namespace kiln;

namespace {

inline constexpr dim<"N", facts{.min = 1}> N;

using Ints = std::vector<int>;

int floormod(int a, int n) { return (a % n + n) % n; }

struct snap : program<snap> {  // a value that is read before a write does not change
  inout<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    auto a = x(0), b = x(1);
    auto r = roll<0, 1>(x);
    auto whole = x * 2;
    for (auto t : loop(3)) {
      auto old = x(t);
      x(t) = old + b;
      for (auto [i] : kernel(N)) x(i) += a + old;
      x = x + roll<0, -1>(x);
    }
    y = r + whole;
  }
};

TEST(FirstUse, ValuesKeepTheirContents) {
  for (const int n : {1, 2, 3, 7, 40}) {
    Ints x, y;
    for (int i = 0; i < n; ++i) x.push_back(i * 7 % 20 - 10);
    const auto got = scopes::run(ir<snap>, {scopes::tensor({n}, x), scopes::output<int>({n})});
    const auto at = [&](int i) -> int& { return x[static_cast<std::size_t>(std::min(i, n - 1))]; };
    const int a = at(0), b = at(1);
    for (int i = 0; i < n; ++i) y.push_back(at(floormod(i - 1, n)) + 2 * at(i));
    for (int t = 0; t < 3; ++t) {
      const int old = at(t);
      at(t) = old + b;
      for (int& v : x) v += a + old;
      Ints next;
      for (int i = 0; i < n; ++i) next.push_back(at(i) + at((i + 1) % n));
      x = next;
    }
    EXPECT_EQ(scopes::values<int>(got["x"]), x);
    EXPECT_EQ(scopes::values<int>(got["y"]), y);
  }
}

struct below_zero : program<below_zero> {
  in<i32> k;
  inout<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(k)) y.at<mode::skip>(i) = 7;
    for (auto j : loop(k, -3, -2)) y.at<mode::wrap>(j) += 100;
    for (auto [i, j] : kernel(k, N)) y.at<mode::skip>(i * 100000 + j).atomic_add(1000);
  }
};

TEST(FirstUse, ExtentsAndIndicesBelowZero) {
  const int n = 6;
  for (const int k : {-5, 0, 1, 3, 12}) {
    Ints y(n, 1);
    const auto got = scopes::run(ir<below_zero>, {scopes::scalar(k), scopes::tensor({n}, y)});
    for (int i = 0; i < k && i < n; ++i) y[static_cast<std::size_t>(i)] = 7;
    for (int j = k; j > -3; j -= 2) y[static_cast<std::size_t>(floormod(j, n))] += 100;
    if (k > 0)
      for (int& v : y) v += 1000;
    EXPECT_EQ(scopes::values<int>(got["y"]), y) << k;
  }
}

struct elements_of_numbers : program<elements_of_numbers> {  // n() is n, also of a number that a loop or condition carries
  in<i32, N> x;
  out<i32> most, first;
  out<i32, N> y;
  constexpr void body() {
    most = -100;
    for (auto i : loop(N)) most = max(most(), x(i));
    first = 0;
    if (auto c = when(first() < 1)) first = x(0);
    auto n = var(1);
    for (auto t : loop(3)) {
      break_if(n() > 3);
      n = n() + most();
      y = x * n();
    }
  }
};

TEST(FirstUse, ElementsOfNumbers) {
  for (const int n : {1, 2, 9}) {
    Ints x, y;
    for (int i = 0; i < n; ++i) x.push_back(i * 5 % 7);
    const int most = *std::ranges::max_element(x);
    int factor = 1;
    for (int t = 0; t < 3 && factor <= 3; ++t) factor += most;
    for (const int v : x) y.push_back(v * factor);
    const auto got = scopes::run(ir<elements_of_numbers>, {scopes::tensor({n}, x), scopes::output<int>({}),
                                                           scopes::output<int>({}), scopes::output<int>({n})});
    EXPECT_EQ(scopes::values<int>(got["most"]), Ints{most});
    EXPECT_EQ(scopes::values<int>(got["first"]), Ints{x[0]});
    EXPECT_EQ(scopes::values<int>(got["y"]), y);
  }
}

inline constexpr dim<"V"> V;
inline constexpr dim<"T"> T;

struct look_up : program<look_up> {
  in<f32, V> table;
  in<f32, V, 3> rows;
  in<i32, T> k;
  out<f32, T> y, first;
  out<f32, T, 3> z;
  constexpr void body() {
    y = table(k) + 1;
    for (auto [t] : kernel(T)) {
      auto s = var(0.0f);
      for (auto j : loop(k(t), k(t) + 2)) s += table(j);
      first(t) = s;
    }
    z = rows(k);
  }
};

TEST(FirstUse, ElementsOfEmptyTablesAreZero) {
  for (const int t : {1, 5, 16, 37, 100}) {
    const Ints k(static_cast<std::size_t>(t), 3);
    const std::vector<float> none;
    const auto got =
        scopes::run(ir<look_up>, {scopes::tensor({0}, none), scopes::tensor({0, 3}, none), scopes::tensor({t}, k),
                                  scopes::output<float>({t}), scopes::output<float>({t}), scopes::output<float>({t, 3})});
    EXPECT_EQ(scopes::values<float>(got["y"]), std::vector<float>(static_cast<std::size_t>(t), 1));
    EXPECT_EQ(scopes::values<float>(got["first"]), std::vector<float>(static_cast<std::size_t>(t), 0));
    EXPECT_EQ(scopes::values<float>(got["z"]), std::vector<float>(static_cast<std::size_t>(3 * t), 0));
  }
}

}  // namespace

}  // namespace first_use_test
