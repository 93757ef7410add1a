// Tensors that rotate from iteration to iteration: host loops copy nothing, for any number of iterations and
// any kind of end.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace rotating_buffers_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

using Ints = std::vector<int>;

Ints numbers(std::size_t n, int seed = 0) {
  Ints v;
  for (std::size_t i = 0; i < n; ++i)
    v.push_back(static_cast<int>((i * 7919 + static_cast<std::size_t>(seed) * 31 + 13) % 101) - 50);
  return v;
}

// The sum of neighbours in a circle. Unsigned, because many iterations overflow.
Ints stirred(const Ints& u) {
  Ints out;
  for (std::size_t i = 0; i < u.size(); ++i)
    out.push_back(static_cast<int>(static_cast<unsigned>(u[(i + u.size() - 1) % u.size()]) + 3u * static_cast<unsigned>(u[i]) +
                                   static_cast<unsigned>(u[(i + 1) % u.size()])));
  return out;
}
constexpr auto stir(auto const& u) { return roll<0, 1>(u) + 3 * u + roll<0, -1>(u); }
Ints sum(const Ints& a, const Ints& b, int minus = 0) {
  Ints out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<unsigned>(a[i]), y = static_cast<unsigned>(b[i]);
    out.push_back(static_cast<int>(minus != 0 ? x - y : x + y));
  }
  return out;
}

const std::vector<int> some_iterations = {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8};

// u = f(u) in place: one kernel, and one copy after the loop.
struct stirring : program<stirring> {
  in<i32> steps;
  inout<i32, N> u;
  constexpr void body() {
    for ([[maybe_unused]] auto t : loop(steps)) u = stir(u);
  }
};

TEST(RotatingBuffers, InPlace) {
  EXPECT_EQ(scopes::kernels_in_loop(ir<stirring>, 0), 1);
  for (const int steps : some_iterations)
    for (const std::size_t n : {1u, 2u, 40u, 3000u}) {
      auto u = numbers(n);
      const auto r = scopes::run(ir<stirring>, {scopes::scalar(steps), scopes::tensor({std::ssize(u)}, u)});
      for (int t = 0; t < steps; ++t) u = stirred(u);
      EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps;
    }
}

// Two tensors rotate: u2 <- u1 <- u0. The result goes to an output; the inputs stay.
struct leapfrog : program<leapfrog> {
  in<i32> steps;
  in<i32, N> first, second;
  out<i32, N> last;
  out<i32, N> before_last;
  constexpr void body() {
    auto before = var(first), now = var(second);
    for ([[maybe_unused]] auto t : loop(steps)) {
      auto next = stir(now) - before;
      before = now;
      now = next;
    }
    last = now;
    before_last = before;
  }
};

TEST(RotatingBuffers, Leapfrog) {
  EXPECT_EQ(scopes::kernels_in_loop(ir<leapfrog>, 0), 1);
  for (const int steps : some_iterations) {
    Ints before = numbers(50), now = numbers(50, 1);
    const auto r = scopes::run(ir<leapfrog>, {scopes::scalar(steps), scopes::tensor({50}, before), scopes::tensor({50}, now),
                                              scopes::output<int>({50}), scopes::output<int>({50})});
    for (int t = 0; t < steps; ++t) {
      Ints next = sum(stirred(now), before, 1);
      before = now;
      now = next;
    }
    EXPECT_EQ(scopes::values<int>(r["last"]), now) << steps;
    EXPECT_EQ(scopes::values<int>(r["before_last"]), before) << steps;
  }
}

// Three tensors rotate, and two others swap.
struct five : program<five> {
  in<i32> steps;
  inout<i32, N> a, b, c, u, v;
  constexpr void body() {
    for ([[maybe_unused]] auto t : loop(steps)) {
      auto next = stir(c) + a;
      a = b;
      b = c;
      c = next;
      auto w = u + 0;
      u = v;
      v = w;
    }
  }
};

TEST(RotatingBuffers, SeveralAtATime) {
  EXPECT_EQ(scopes::kernels_in_loop(ir<five>, 0), 2);  // u + 0 is a kernel
  for (const int steps : some_iterations) {
    Ints a = numbers(30), b = numbers(30, 1), c = numbers(30, 2), u = numbers(30, 3), v = numbers(30, 4);
    const auto r = scopes::run(ir<five>, {scopes::scalar(steps), scopes::tensor({30}, a), scopes::tensor({30}, b),
                                          scopes::tensor({30}, c), scopes::tensor({30}, u), scopes::tensor({30}, v)});
    for (int t = 0; t < steps; ++t) {
      const Ints next = sum(stirred(c), a);
      a = b;
      b = c;
      c = next;
      std::swap(u, v);
    }
    EXPECT_EQ(scopes::values<int>(r["a"]), a) << steps;
    EXPECT_EQ(scopes::values<int>(r["b"]), b) << steps;
    EXPECT_EQ(scopes::values<int>(r["c"]), c) << steps;
    EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps;
    EXPECT_EQ(scopes::values<int>(r["v"]), v) << steps;
  }
}

// Data ends the loop, at the end of an iteration or inside one. Iterations may be cut short.
struct ended : program<ended> {
  in<i32> steps, limit;
  inout<i32, N> u, v;
  out<i32> iterations;
  constexpr void body() {
    auto n = var(0);
    for (auto t : loop(steps)) {
      u = stir(u);
      n += 1;
      break_if(max(u) > limit);
      continue_if(t % 3 == 1);
      v = stir(v) + u;
    }
    iterations = n;
  }
};

TEST(RotatingBuffers, BreakAndContinue) {
  for (const int steps : some_iterations)
    for (const int limit : {-1, 100, 1000, 10000, 1 << 30}) {
      Ints u = numbers(40), v = numbers(40, 1);
      const auto r = scopes::run(ir<ended>, {scopes::scalar(steps), scopes::scalar(limit), scopes::tensor({40}, u),
                                             scopes::tensor({40}, v), scopes::output<int>({})});
      int iterations = 0;
      for (int t = 0; t < steps; ++t) {
        u = stirred(u);
        ++iterations;
        if (std::ranges::max(u) > limit) break;
        if (t % 3 == 1) continue;
        v = sum(stirred(v), u);
      }
      EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps << " " << limit;
      EXPECT_EQ(scopes::values<int>(r["v"]), v) << steps << " " << limit;
      EXPECT_EQ(scopes::values<int>(r["iterations"])[0], iterations) << steps << " " << limit;
    }
}

// Under a condition rotation saves nothing: one kernel and one copy.
struct under_condition : program<under_condition> {
  in<i32> steps;
  inout<i32, N> u;
  constexpr void body() {
    for ([[maybe_unused]] auto t : loop(steps)) {
      break_if(max(u) > 1000000);
      u = stir(u);
    }
  }
};

TEST(RotatingBuffers, UnderACondition) {
  EXPECT_EQ(scopes::copies_in_loops(ir<under_condition>), 1);
  for (const int steps : some_iterations) {
    auto u = numbers(40);
    const auto r = scopes::run(ir<under_condition>, {scopes::scalar(steps), scopes::tensor({40}, u)});
    for (int t = 0; t < steps && std::ranges::max(u) <= 1000000; ++t) u = stirred(u);
    EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps;
  }
}

// Nested loops with rotating tensors in each. The number of inner iterations depends on the outer loop.
struct nested : program<nested> {
  in<i32> rounds;
  inout<i32, N> u, v;
  constexpr void body() {
    for (auto r : loop(rounds)) {
      for ([[maybe_unused]] auto t : loop(r)) u = stir(u);
      v = stir(v) + u;
      if (auto c = when(r % 2 == 0)) u = stir(u) - v;
    }
  }
};

TEST(RotatingBuffers, LoopsInLoops) {
  for (const int rounds : some_iterations) {
    Ints u = numbers(25), v = numbers(25, 1);
    const auto r = scopes::run(ir<nested>, {scopes::scalar(rounds), scopes::tensor({25}, u), scopes::tensor({25}, v)});
    for (int k = 0; k < rounds; ++k) {
      for (int t = 0; t < k; ++t) u = stirred(u);
      v = sum(stirred(v), u);
      if (k % 2 == 0) u = sum(stirred(u), v, 1);
    }
    EXPECT_EQ(scopes::values<int>(r["u"]), u) << rounds;
    EXPECT_EQ(scopes::values<int>(r["v"]), v) << rounds;
  }
}

// Explicit kernels write the next state and copy it. The copy is read again, or changed later.
struct by_kernels : program<by_kernels> {
  in<i32> steps;
  inout<i32, N> u, w;
  out<i32, N> seen;
  constexpr void body() {
    for (auto [i] : kernel(N)) seen(i) = 0;
    for (auto t : loop(steps)) {
      for (auto [i] : kernel(N)) w(i) = u.at<mode::wrap>(i - 1) + 3 * u(i) + u.at<mode::wrap>(i + 1);
      for (auto [i] : kernel(N)) u(i) = w(i);
      for (auto [i] : kernel(N)) seen(i) += u.at<mode::wrap>(i + 1);
      if (auto c = when(t == 4))
        for (auto [i] : kernel(N)) u(i) += 1;
    }
  }
};

TEST(RotatingBuffers, KernelsOfTheProgram) {
  for (const int steps : some_iterations) {
    Ints u = numbers(33), w = numbers(33, 1), seen(33);
    const auto r = scopes::run(
        ir<by_kernels>, {scopes::scalar(steps), scopes::tensor({33}, u), scopes::tensor({33}, w), scopes::output<int>({33})});
    for (int t = 0; t < steps; ++t) {
      w = stirred(u);
      u = w;
      Ints turned = u;
      std::ranges::rotate(turned, turned.begin() + 1);
      seen = sum(seen, turned);
      if (t == 4)
        for (int& e : u) e = static_cast<int>(static_cast<unsigned>(e) + 1);
    }
    EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps;
    EXPECT_EQ(scopes::values<int>(r["w"]), w) << steps;
    EXPECT_EQ(scopes::values<int>(r["seen"]), seen) << steps;
  }
}

// The kernel that makes the copy changes the source, which is read again. So the copy stays.
struct copied_and_changed : program<copied_and_changed> {
  in<i32> steps;
  inout<i32, N> u, v;
  constexpr void body() {
    for ([[maybe_unused]] auto t : loop(steps)) {
      auto w = var(stir(u));
      for (auto [i] : kernel(N)) {
        u(i) = w(i);
        w(i) = w(i) * 2 + 1;
      }
      for (auto [i] : kernel(N)) v(i) += w.at<mode::wrap>(i + 1);
    }
  }
};

TEST(RotatingBuffers, WhatACopyLeavesBehindChanges) {
  for (const int steps : some_iterations) {
    Ints u = numbers(21), v = numbers(21, 1);
    const auto r =
        scopes::run(ir<copied_and_changed>, {scopes::scalar(steps), scopes::tensor({21}, u), scopes::tensor({21}, v)});
    for (int t = 0; t < steps; ++t) {
      u = stirred(u);
      Ints turned;
      for (std::size_t i = 0; i < u.size(); ++i)
        turned.push_back(static_cast<int>(2u * static_cast<unsigned>(u[(i + 1) % u.size()]) + 1u));
      v = sum(v, turned);
    }
    EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps;
    EXPECT_EQ(scopes::values<int>(r["v"]), v) << steps;
  }
}

// Variables rotate only in the inner loop. The next outer iteration begins with their last values.
struct variables_around : program<variables_around> {
  in<i32> rounds;
  in<i32, N> x;
  inout<i32, N> v;
  constexpr void body() {
    auto before = var(x), now = var(x + 1);
    for (auto r : loop(rounds)) {
      for ([[maybe_unused]] auto t : loop(r)) {
        auto next = stir(now) - before;
        before = now;
        now = next;
      }
      v = stir(v) + r;
    }
    v += now;
  }
};

TEST(RotatingBuffers, VariablesAroundTheLoopAround) {
  for (const int rounds : some_iterations) {
    Ints x = numbers(23), v = numbers(23, 1);
    const auto r =
        scopes::run(ir<variables_around>, {scopes::scalar(rounds), scopes::tensor({23}, x), scopes::tensor({23}, v)});
    Ints before = x, now = sum(x, Ints(23, 1));
    for (int k = 0; k < rounds; ++k) {
      for (int t = 0; t < k; ++t) {
        const Ints next = sum(stirred(now), before, 1);
        before = now;
        now = next;
      }
      v = sum(stirred(v), Ints(23, k));
    }
    EXPECT_EQ(scopes::values<int>(r["v"]), sum(v, now)) << rounds;
  }
}

// Several pairs swap, with different sizes and types, and three tensors rotate through a new one. A pair is restored by way of
// a free buffer of its size.
struct pairs : program<pairs> {
  in<i32> steps;
  inout<i32, N> u, v, a, b;
  inout<i32, M> p, q;
  inout<i64, N> x, y;
  constexpr void exchange(auto& one, auto& other) {
    auto before = var(one);
    one = other;
    other = before;
  }
  constexpr void body() {
    for ([[maybe_unused]] auto t : loop(steps)) {
      auto next = stir(b) + a;
      a = b;
      b = next;
      exchange(p, q);
      exchange(x, y);
      exchange(u, v);
    }
  }
};

TEST(RotatingBuffers, PairsOfOtherSizesAndTypes) {
  for (const int steps : some_iterations) {
    Ints u = numbers(40), v = numbers(40, 1), a = numbers(40, 2), b = numbers(40, 3), p = numbers(7, 4), q = numbers(7, 5);
    std::vector<std::int64_t> x, y;
    for (std::int64_t i = 0; i < 40; ++i) x.push_back((i + 1) << 33), y.push_back(-i << 34);
    const auto r = scopes::run(ir<pairs>, {scopes::scalar(steps), scopes::tensor({40}, u), scopes::tensor({40}, v),
                                           scopes::tensor({40}, a), scopes::tensor({40}, b), scopes::tensor({7}, p),
                                           scopes::tensor({7}, q), scopes::tensor({40}, x), scopes::tensor({40}, y)});
    for (int t = 0; t < steps; ++t) {
      const Ints next = sum(stirred(b), a);
      a = b;
      b = next;
      std::swap(p, q);
      std::swap(x, y);
      std::swap(u, v);
    }
    EXPECT_EQ(scopes::values<int>(r["u"]), u) << steps;
    EXPECT_EQ(scopes::values<int>(r["v"]), v) << steps;
    EXPECT_EQ(scopes::values<int>(r["a"]), a) << steps;
    EXPECT_EQ(scopes::values<int>(r["b"]), b) << steps;
    EXPECT_EQ(scopes::values<int>(r["p"]), p) << steps;
    EXPECT_EQ(scopes::values<int>(r["q"]), q) << steps;
    EXPECT_EQ(scopes::values<std::int64_t>(r["x"]), x) << steps;
    EXPECT_EQ(scopes::values<std::int64_t>(r["y"]), y) << steps;
  }
}

}  // namespace

}  // namespace rotating_buffers_test
