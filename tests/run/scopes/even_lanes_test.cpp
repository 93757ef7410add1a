// Lanes at distances that only the call knows, clamps that act where only the call knows, and accesses under masks of data.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace even_lanes_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"P"> P;
inline constexpr dim<"Q"> Q;

template <class T>
std::vector<T> numbers(std::int64_t n, int most) {
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<T>((i * 7919 + 13) % most));
  return v;
}

std::vector<int> common_subsequence(const std::vector<int>& a, const std::vector<int>& b, std::size_t columns,
                                    std::vector<int> l) {
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t at = i * columns + j;
      l[at] = a[i - 1] == b[j - 1] ? l[at - columns - 1] + 1 : std::max(l[at - columns], l[at - 1]);
    }
  return l;
}

// One diagonal after the other. The table of `tables` has extents of its own, so all its indices are clamped.
struct diagonals : program<diagonals> {
  in<i32, N> a;
  in<i32, M> b;
  inout<i32, N + 1, M + 1> l;
  constexpr void body() {
    for (auto d : loop(2, size<N + M, i32>() + 1))
      for (auto [t] : kernel(N)) {
        auto i = t + 1, j = d - i;
        if (auto c = when(j >= 1 && j <= size<M, i32>()))
          l(i, j) = select(a(i - 1) == b(j - 1), l(i - 1, j - 1) + 1, max(l(i - 1, j), l(i, j - 1)));
      }
  }
};
struct tables : program<tables> {
  in<i32, N> a;
  in<i32, M> b;
  inout<i32, P, Q> l;
  constexpr void body() {
    auto n = a.size<0>(), m = b.size<0>();
    for (auto s : loop(n + m - 1)) {
      auto first = max(0, s - m + 1);
      for (auto [r] : kernel(min(n, s + 1) - first)) {
        auto i = r + first, j = s - i;
        unique(l(i + 1, j + 1)) = select(a(i) == b(j), l(i, j) + 1, max(l(i, j + 1), l(i + 1, j)));
      }
    }
  }
};

TEST(EvenLanes, Diagonals) {
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 9}, {8, 3}, {17, 20}, {40, 33}}) {
    const auto a = numbers<int>(n, 3), b = numbers<int>(m, 4);
    for (const std::int64_t more : {0, 3}) {
      const auto columns = m + 1 + more;
      const std::vector<int> zeros(static_cast<std::size_t>((n + 1 + more) * columns));
      const auto l = common_subsequence(a, b, static_cast<std::size_t>(columns), zeros);
      const auto x = scopes::tensor({n}, a), y = scopes::tensor({m}, b);
      EXPECT_EQ(scopes::values<int>(scopes::run(ir<tables>, {x, y, scopes::tensor({n + 1 + more, columns}, zeros)})["l"]), l);
      if (more > 0) continue;
      const auto r = scopes::run(ir<diagonals>, {x, y, scopes::tensor({n + 1, m + 1}, zeros)});
      EXPECT_EQ(scopes::values<int>(r["l"]), l);
    }
  }
}

// Columns, upward and downward, of elements of every size. The columns of `some` change under conditions on data.
template <DType T>
struct columns : program<columns<T>> {
  in<i32> k;
  in<T, N, M> x;
  inout<T, N, M> all, some;
  constexpr void body() {
    auto last = this->template size<N, i32>() - 1;
    for (auto [i] : this->kernel(N)) {
      unique(all(last - i, k)) = x(i, k);
      if (auto c = this->when(x(i, k) > x(i, 0))) some(i, k) = x(last - i, k + 1);
    }
  }
};

template <class T, DType D>
void run_columns() {
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 2}, {8, 1}, {19, 5}, {70, 7}}) {
    const auto x = scopes::tensor({n, m}, numbers<T>(n * m, 100)), y = scopes::tensor({n, m}, numbers<T>(n * m, 70));
    for (const int k : {0, 1, 4}) scopes::run(ir<columns<D>>, {scopes::scalar(k), x, y, y});
  }
}

TEST(EvenLanes, Columns) {
  run_columns<float, f32>();
  run_columns<double, f64>();
  run_columns<std::uint8_t, u8>();
  run_columns<std::int16_t, i16>();
}

// Elements that a condition on data selects go to places from data, and are looked up there again.
struct chosen : program<chosen> {
  in<f32, N> x;
  in<i32, N> order;  // a permutation
  inout<f32, N> y;
  inout<u8, N> z;
  out<f32, N> back;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      if (auto c = when(x(i) > 30.0f)) {
        unique(y(order(i))) = x(i);
        unique(z(order(i))) = cast<u8>(x(i));
      }
    }
    for (auto [i] : kernel(N)) {
      auto v = var(-1.0f);
      if (auto c = when(x(i) > 50.0f)) v = y(order(i));
      back(i) = v;
    }
  }
};

TEST(EvenLanes, Chosen) {
  for (const std::int64_t n : {1, 7, 8, 30, 100}) {
    std::vector<int> order(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>((i * 13) % order.size());
    const auto x = numbers<float>(n, 97);
    const auto r = scopes::run(ir<chosen>, {scopes::tensor({n}, x), scopes::tensor({n}, order), scopes::output<float>({n}),
                                            scopes::output<std::uint8_t>({n}), scopes::output<float>({n})});
    if (n % 13 == 0) continue;
    const auto back = scopes::values<float>(r["back"]);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(back[i], x[i] > 50 ? x[i] : -1.0f);
  }
}

// A shift that only the call knows: the clamps act at one end, at the other, everywhere or nowhere.
struct shifted : program<shifted> {
  in<f32, N> x;
  in<i32> by;
  out<f32, M> y, z;
  constexpr void body() {
    for (auto [i] : kernel(M)) {
      y(i) = x(i + by);
      z(i) = x(by - i) - x.at<mode::constant>(i - by, 5);
    }
  }
};

TEST(EvenLanes, ClampsOfTheCall) {
  for (const std::int64_t n : {1, 9, 40})
    for (const std::int64_t m : {1, 8, 33, 61})
      for (const int by : {-70, -9, -1, 0, 3, 20, 100}) {
        const auto x = numbers<float>(n, 50);
        const auto r = scopes::run(
            ir<shifted>, {scopes::tensor({n}, x), scopes::scalar(by), scopes::output<float>({m}), scopes::output<float>({m})});
        const auto y = scopes::values<float>(r["y"]);
        for (std::int64_t i = 0; i < m; ++i)
          EXPECT_EQ(y[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(std::clamp<std::int64_t>(i + by, 0, n - 1))]);
      }
}

}  // namespace

}  // namespace even_lanes_test
