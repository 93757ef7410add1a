// Loops, conditions, breaks and variables, compared with the same code in C++.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <cmath>

#include "tests/run/scopes/run_scopes.h"

namespace control_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"H"> H;
inline constexpr dim<"W"> W;

std::vector<int> counting(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i;
  return v;
}
// Calls f(i) for every index.
template <class T, class F>
std::vector<T> table(int n, F f) {
  std::vector<T> v;
  for (int i = 0; i < n; ++i) v.push_back(f(i));
  return v;
}

struct mandelbrot : program<mandelbrot> {
  in<f32> x0, y0, dx;
  in<i32> max_iter;
  out<i32, H, W> img;
  constexpr void body() {
    for (auto [y, x] : kernel(H, W)) {
      auto cx = x0 + dx * cast<f32>(x), cy = y0 + dx * cast<f32>(y);
      auto zx = var(0.0f), zy = var(0.0f);
      auto n = var(0);
      for (auto k : loop(max_iter)) {
        auto x2 = zx * zx, y2 = zy * zy;
        break_if(x2 + y2 > 4.0f);
        zy = 2.0f * zx * zy + cy;
        zx = x2 - y2 + cx;
        n = k + 1;
      }
      img(y, x) = n;
    }
  }
};

int escape_time(float cx, float cy, int limit) {
  float zx = 0, zy = 0;
  for (int k = 0; k < limit; ++k) {
    const float x2 = zx * zx, y2 = zy * zy;
    if (x2 + y2 > 4.0f) return k;
    const float twice = 2.0f * zx * zy, difference = x2 - y2;
    zy = twice + cy;
    zx = difference + cx;
  }
  return limit;
}

TEST(Scopes, Mandelbrot) {
  for (const int limit : {0, 1, 40}) {
    const int h = 9, w = 13;
    const float x0 = -2.1f, y0 = -1.2f, dx = 0.23f;
    const auto r = scopes::run(ir<mandelbrot>, {scopes::scalar(x0), scopes::scalar(y0), scopes::scalar(dx),
                                                scopes::scalar(limit), scopes::output<int>({h, w})});
    const auto img = scopes::values<int>(r["img"]);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const float px = dx * static_cast<float>(x), py = dx * static_cast<float>(y);
        ASSERT_EQ(img[static_cast<std::size_t>(y * w + x)], escape_time(x0 + px, y0 + py, limit)) << y << " " << x;
      }
  }
}

// The sum of counters and the number of iterations, for loops with every kind of bound.
struct bounds : program<bounds> {
  in<i32> begin, end, step;
  in<i64> wide;
  out<i32, 2> all, up, constant, down, symbolic, odd;
  out<i64, 2> of_i64;
  in<i32, N> x;
  constexpr void body() {
    for (auto [one] : kernel(1)) {
      auto i = one - one;
      auto note = [&](auto& to, auto const& k) {
        to(i) += k;
        to(i + 1) += cast<dsl::dtype_of<std::remove_cvref_t<decltype(k)>>>(i + 1);
      };
      all(0) = 0, all(1) = 0, up(0) = 0, up(1) = 0, constant(0) = 0, constant(1) = 0;
      down(0) = 0, down(1) = 0, symbolic(0) = 0, symbolic(1) = 0, odd(0) = 0, odd(1) = 0, of_i64(0) = 0, of_i64(1) = 0;
      for (auto k : loop(begin, end, step)) note(all, k);
      for (auto k : loop(begin, end)) note(up, k);
      for (auto k : loop(-3, 7, 4)) note(constant, k);
      for (auto k : loop(5, -1, -1)) note(down, k);
      for (auto k : loop(N)) note(symbolic, k);
      for (auto k : loop<1, N - 1, 2>()) note(odd, k);
      for (auto k : loop(wide)) note(of_i64, k);
    }
  }
};

template <class T>
std::vector<T> iterations(T begin, T end, T step) {
  std::vector<T> r{0, 0};
  for (T k = begin; step > 0 ? k < end : step < 0 && k > end; k += step) r[0] += k, ++r[1];
  return r;
}

TEST(Scopes, LoopBounds) {
  const int cases[][3] = {{0, 5, 1}, {5, 0, 1},  {5, 0, -1}, {5, 0, -2},  {0, 5, -1},
                          {0, 5, 0}, {-4, 9, 3}, {-4, 8, 3}, {9, -4, -3}, {7, 7, 2}};
  for (const auto& c : cases)
    for (const int n : {0, 1, 2, 3, 8}) {
      std::vector<scopes::Array> arguments = {scopes::scalar(c[0]), scopes::scalar(c[1]), scopes::scalar(c[2]),
                                              scopes::scalar(static_cast<std::int64_t>(c[1]))};
      for (int k = 0; k < 6; ++k) arguments.push_back(scopes::output<int>({2}));
      arguments.push_back(scopes::output<std::int64_t>({2}));
      arguments.push_back(scopes::tensor({n}, counting(n)));
      const auto r = scopes::run(ir<bounds>, arguments);
      EXPECT_EQ(scopes::values<int>(r["all"]), iterations(c[0], c[1], c[2]));
      EXPECT_EQ(scopes::values<int>(r["up"]), iterations(c[0], c[1], 1));
      EXPECT_EQ(scopes::values<int>(r["constant"]), iterations(-3, 7, 4));
      EXPECT_EQ(scopes::values<int>(r["down"]), iterations(5, -1, -1));
      EXPECT_EQ(scopes::values<int>(r["symbolic"]), iterations(0, n, 1));
      EXPECT_EQ(scopes::values<int>(r["odd"]), iterations(1, n - 1, 2));
      EXPECT_EQ(scopes::values<std::int64_t>(r["of_i64"]), iterations<std::int64_t>(0, c[1], 1));
    }
}

// Breaks and continues of nested loops, under conditions.
struct exits : program<exits> {
  in<i32, N> limit;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto n = limit(i);
      auto sum = var(0);
      for (auto a : loop(9)) {
        continue_if(a == 2);
        if (auto big = when(a > n)) {
          sum += 1000;
          if (auto even = when(n % 2 == 0)) break_();
          sum += 1;
          continue_();
        }
        for (auto b : loop(a)) {
          if (auto c = when(b == 3)) {
            sum += 7;
            continue_if(a == 5);
            break_if(a == 6);
            sum += 11;
          }
          sum += 10 * b;
          break_if(b + a > 10);
        }
        sum += a;
      }
      y(i) = sum;
    }
  }
};

int exits_of(int n) {
  int sum = 0;
  for (int a = 0; a < 9; ++a) {
    if (a == 2) continue;
    if (a > n) {
      sum += 1000;
      if (n % 2 == 0) break;
      sum += 1;
      continue;
    }
    for (int b = 0; b < a; ++b) {
      if (b == 3) {
        sum += 7;
        if (a == 5) continue;
        if (a == 6) break;
        sum += 11;
      }
      sum += 10 * b;
      if (b + a > 10) break;
    }
    sum += a;
  }
  return sum;
}

TEST(Scopes, BreaksAndContinues) {
  const auto r = scopes::run(ir<exits>, {scopes::tensor({12}, counting(12)), scopes::output<int>({12})});
  EXPECT_EQ(scopes::values<int>(r["y"]), table<int>(12, exits_of));
}

struct chains : program<chains> {
  inout<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto v = x(i);
      y(i) = -1;
      if (auto c = when(v < 3)) {
        y(i) = 0;
        x(i) += 100;
      }
      if (auto c = otherwise(v < 6)) {
        y(i) = 1;
        if (auto d = when(v == 4)) y(i) = 14;
        if (auto d = otherwise()) y(i) += 20;
      }
      if (auto c = otherwise(x(i) == 7)) y(i) = 2;
      if (auto c = otherwise()) x(i) = 3;
      if (auto c = when(v == 0 || v == 8)) y(i) *= 5;
    }
  }
};

TEST(Scopes, WhenAndOtherwise) {
  const auto r = scopes::run(ir<chains>, {scopes::tensor({10}, counting(10)), scopes::output<int>({10})});
  std::vector<int> x = counting(10), y(10);
  for (std::size_t i = 0; i < 10; ++i) {
    const int v = x[i];
    y[i] = -1;
    if (v < 3) {
      y[i] = 0;
      x[i] += 100;
    } else if (v < 6) {
      y[i] = v == 4 ? 14 : 21;
    } else if (x[i] == 7) {
      y[i] = 2;
    } else {
      x[i] = 3;
    }
    if (v == 0 || v == 8) y[i] *= 5;
  }
  EXPECT_EQ(scopes::values<int>(r["x"]), x);
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
}

// Variables: snapshots, copies, exchange, small vectors; a loop until a condition holds.
struct variables : program<variables> {
  in<i32, N> x;
  out<i32, N> gcd, turned, copies;
  out<i32, N, 3> vectors;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = var(x(i) * 6), b = var(84);
      auto steps = var<i32>(0);
      for (auto k : forever()) {
        break_if(b == 0);
        auto t = a % b;
        a = b;
        b = t;
        steps += 1;
      }
      gcd(i) = a;
      turned(i) = steps;
      auto first = a;  // a new variable
      auto& same = a;
      first += 1;
      same -= 1;
      copies(i) = first * 1000 + a;
      auto v = var<i32, 3>(1);
      for (auto k : loop(3)) v = v * 2 + v;
      for (auto k : loop(3)) vectors(i, k) = k;
      auto s = sum(v);
      vectors(i, 0) = s;
    }
  }
};

TEST(Scopes, Variables) {
  const int n = 9;
  const auto r = scopes::run(ir<variables>, {scopes::tensor({n}, counting(n)), scopes::output<int>({n}),
                                             scopes::output<int>({n}), scopes::output<int>({n}), scopes::output<int>({n, 3})});
  for (int i = 0; i < n; ++i) {
    int a = i * 6, b = 84, steps = 0;
    while (b != 0) {
      const int t = a % b;
      a = b;
      b = t;
      ++steps;
    }
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(scopes::values<int>(r["gcd"])[at], a);
    EXPECT_EQ(scopes::values<int>(r["turned"])[at], steps);
    EXPECT_EQ(scopes::values<int>(r["copies"])[at], (a + 1) * 1000 + a - 1);
    EXPECT_EQ(scopes::values<int>(r["vectors"])[at * 3], 81);
    EXPECT_EQ(scopes::values<int>(r["vectors"])[at * 3 + 2], 2);
  }
}

// A function that opens scopes. A loop under a false condition has no iteration.
constexpr auto collatz(Operand auto const& start) {
  auto s = scope(start);
  auto n = s.var(start);
  auto steps = s.var(0);
  if (auto positive = s.when(n > 0)) {
    for ([[maybe_unused]] auto k : s.forever()) {
      s.break_if(n == 1);
      if (auto even = s.when(n % 2 == 0)) n = n / 2;
      if (auto odd = s.otherwise()) n = 3 * n + 1;
      steps += 1;
    }
  }
  return steps + 0;
}
struct helpers : program<helpers> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) y(i) = collatz(x(i));
  }
};

TEST(Scopes, HelperFunctions) {
  const auto r = scopes::run(ir<helpers>, {scopes::tensor({30}, counting(30)), scopes::output<int>({30})});
  EXPECT_EQ(scopes::values<int>(r["y"]), table<int>(30, [](int n) {
              int steps = 0;
              for (; n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
              return steps;
            }));
}

// Kernels whose extents and conditions come from data.
struct decided : program<decided> {
  in<i32> count;
  inout<i32, N> x;
  constexpr void body() {
    for (auto [i] : kernel(count)) x.at<mode::skip>(i) = i;
    if (auto c = when(count > 3)) {
      for (auto [i] : kernel(N)) x(i) += 100;
      x = x * 2;
    }
    if (auto c = otherwise()) x(0) = 7;
    for (auto [i, j] : kernel(count - 2, 2)) x.at<mode::skip>(i * 2 + j) -= 1;
  }
};

TEST(Scopes, ExtentsAndConditionsFromData) {
  for (const int count : {-2, 0, 1, 3, 4, 9}) {
    std::vector<int> x(6, -5);
    const auto r = scopes::run(ir<decided>, {scopes::scalar(count), scopes::tensor({6}, x)});
    for (int i = 0; i < std::min(count, 6); ++i) x[static_cast<std::size_t>(i)] = i;
    if (count > 3) {
      for (int& v : x) v = (v + 100) * 2;
    } else {
      x[0] = 7;
    }
    for (int i = 0; i < (count - 2) * 2 && i < 6; ++i) --x[static_cast<std::size_t>(i)];
    EXPECT_EQ(scopes::values<int>(r["x"]), x) << count;
  }
}

// A tensor inside a kernel whose shape depends on the work item is an error.
constexpr int line_of_siblings = __LINE__ + 6;
struct siblings : program<siblings> {
  in<i32, N> x;
  in<i32, H> other;
  inout<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) y(i) = x(i) + sum(other * x(i));
  }
};

TEST(Scopes, TensorsOfAnotherShapeInAKernel) {
  const std::string place = "control_test.cpp:" + std::to_string(line_of_siblings) + ":";
  const std::string error = scopes::compile_error(ir<siblings>);
  EXPECT_NE(error.find(place), std::string::npos) << error;
  EXPECT_NE(error.find("E-scope: expected tensors inside a kernel"), std::string::npos) << error;
}

}  // namespace

}  // namespace control_test
