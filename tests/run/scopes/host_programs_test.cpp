// Loops, conditions and variables around kernels and tensor statements, captured from C++, compared with the same C++.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/run/scopes/run_scopes.h"

namespace host_programs_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"H", facts{.min = 3}> H;
inline constexpr dim<"W", facts{.min = 3}> W;

std::vector<int> scattered(int n) {
  std::vector<int> v;
  for (int i = 0; i < n; ++i) v.push_back((i * 7919 + 13) % 101 - 50);
  return v;
}

// Variables hold tensors, which rotate in each iteration.
struct waves : program<waves> {
  in<i32> steps;
  inout<f32, N> now, before;
  constexpr void body() {
    auto u = var(now), v = var(before);
    for ([[maybe_unused]] auto t : loop(steps)) {
      auto around = roll<0, 1>(u) + roll<0, -1>(u);
      auto next = 2.0f * u - v + 0.25f * (around - 2.0f * u);
      v = u;
      u = next;
    }
    now = u;
    before = v;
  }
};

void waves_in_cpp(int steps, std::vector<float>& now, std::vector<float>& before) {
  const std::size_t n = now.size();
  for (int t = 0; t < steps; ++t) {
    std::vector<float> next(n);
    for (std::size_t i = 0; i < n; ++i) {
      const float around = now[(i + n - 1) % n] + now[(i + 1) % n], twice = 2 * now[i], push = 0.25f * (around - twice);
      next[i] = (twice - before[i]) + push;
    }
    before = now;
    now = next;
  }
}

TEST(HostLoops, Waves) {
  for (const int steps : {0, 1, 2, 9}) {
    std::vector<float> now, before;
    for (const int x : scattered(50)) now.push_back(static_cast<float>(x)), before.push_back(static_cast<float>(x / 2));
    const auto r = scopes::run(ir<waves>, {scopes::scalar(steps), scopes::tensor({50}, now), scopes::tensor({50}, before)});
    waves_in_cpp(steps, now, before);
    EXPECT_EQ(scopes::values<float>(r["now"]), now) << steps;
    EXPECT_EQ(scopes::values<float>(r["before"]), before) << steps;
  }
}

// Poisson's equation by red-black relaxation: two kernels in an iteration, until the largest change is small.
struct relaxation : program<relaxation> {
  in<f32, H, W> source;
  in<f32> limit;
  inout<f32, H, W> p;
  out<i32> iterations;
  constexpr void body() {
    iterations = 0;
    for (auto iteration : loop(50)) {
      auto old = p + 0.0f;
      for (auto colour : loop(2))
        for (auto [y, x] : kernel(H, W)) {
          auto inner = y > 0 && x > 0 && y < p.size<0>() - 1 && x < p.size<1>() - 1;
          if (auto c = when(inner && (x + y) % 2 == colour))
            p(y, x) = 0.25f * (p(y, x - 1) + p(y, x + 1) + p(y - 1, x) + p(y + 1, x) - source(y, x));
        }
      iterations = iteration + 1;
      break_if(max(abs(p - old)) < limit);
    }
  }
};

TEST(HostLoops, RedBlackRelaxation) {
  const int h = 9, w = 12;
  const auto at = [&](int y, int x) { return static_cast<std::size_t>(y * w + x); };
  for (const float limit : {1000.0f, 1.0f, 0.0f}) {
    std::vector<float> source, p(static_cast<std::size_t>(h * w), 1.0f);
    for (const int x : scattered(h * w)) source.push_back(static_cast<float>(x));
    const auto r = scopes::run(ir<relaxation>, {scopes::tensor({h, w}, source), scopes::scalar(limit),
                                                scopes::tensor({h, w}, p), scopes::output<int>({})});
    int iterations = 0;
    for (bool going = true; going && iterations < 50; ++iterations) {
      float change = 0;
      const auto old = p;
      for (int colour = 0; colour < 2; ++colour)
        for (int y = 1; y < h - 1; ++y)
          for (int x = 1; x < w - 1; ++x)
            if ((x + y) % 2 == colour)
              p[at(y, x)] = 0.25f * (p[at(y, x - 1)] + p[at(y, x + 1)] + p[at(y - 1, x)] + p[at(y + 1, x)] - source[at(y, x)]);
      for (std::size_t i = 0; i < p.size(); ++i) change = std::max(change, std::abs(p[i] - old[i]));
      going = !(change < limit);
    }
    EXPECT_EQ(scopes::values<int>(r["iterations"])[0], iterations);
    EXPECT_EQ(scopes::values<float>(r["p"]), p);
  }
}

// Extents N, N/2, N/4, .. from a variable, and i + 1 from a counter. Bounds that are elements.
struct extents : program<extents> {
  inout<i32, N> x;
  inout<i32, N> sums;
  in<i32, 3> bounds;
  constexpr void body() {
    auto half = var(x.size<0>());
    for ([[maybe_unused]] auto t : forever()) {
      half = (half + 1) / 2;
      for (auto [i] : kernel(half)) x.at<mode::skip>(i) += x.at<mode::constant>(i + half, 0);
      break_if(half <= 1);
    }
    for (auto i : loop(bounds(0), bounds(1), bounds(2))) {
      for (auto [k] : kernel(i + 1)) sums.at<mode::skip>(k) += i * x(k);
      for (auto j : loop(i, i + 2)) sums(j) -= 1;
    }
  }
};

TEST(HostLoops, ExtentsAndBoundsThatChange) {
  for (const int n : {1, 2, 7, 64, 100})
    for (const std::vector<int>& bounds : {std::vector{0, 5, 1}, {6, -1, -2}, {3, 3, 1}, {2, 9, 0}, {-4, 5, 3}}) {
      auto x = scattered(n), sums = scattered(n);
      const auto r = scopes::run(ir<extents>, {scopes::tensor({n}, x), scopes::tensor({n}, sums), scopes::tensor({3}, bounds)});
      const auto clamped = [&](int i) { return static_cast<std::size_t>(std::clamp(i, 0, n - 1)); };
      for (int half = (n + 1) / 2;; half = (half + 1) / 2) {
        for (int i = 0; i < half; ++i)
          if (i + half < n) x[clamped(i)] += x[clamped(i + half)];
        if (half <= 1) break;
      }
      const int step = bounds[2];
      for (int i = bounds[0]; step > 0 ? i < bounds[1] : step < 0 && i > bounds[1]; i += step) {
        for (int k = 0; k <= i && k < n; ++k) sums[clamped(k)] += i * x[clamped(k)];
        for (int j = i; j < i + 2; ++j) sums[clamped(j)] -= 1;
      }
      EXPECT_EQ(scopes::values<int>(r["x"]), x) << n;
      EXPECT_EQ(scopes::values<int>(r["sums"]), sums) << n << " " << bounds[0];
    }
}

// Chains of conditions around kernels, with breaks and continues that skip the rest of an iteration.
struct branches : program<branches> {
  inout<i32, N> x;
  in<i32> rounds, stop;
  out<i32, N> trace;
  constexpr void body() {
    trace = 0;
    auto seen = var(0);
    for (auto k : loop(rounds)) {
      if (auto c = when(k % 4 == 0)) {
        x = x + k;
        if (auto d = when(sum(x) % 2 == 0)) {
          for (auto [i] : kernel(N)) x(i) += i;
          seen += 1;
        }
        if (auto d = otherwise()) x = 0 - x;
      }
      if (auto c = otherwise(k % 4 == 1)) {
        for (auto [i] : kernel(N)) trace(i) += x(i);
        continue_if(x(0) > 3);
        for (auto [i] : kernel(k)) trace.at<mode::skip>(i) -= 100;
        trace = trace * 2;
      }
      if (auto c = otherwise(k % 4 == 2)) {
        for (auto j : loop(k)) {
          break_if(x(j) < 0);
          x(j) -= seen;
        }
      }
      if (auto c = otherwise()) {
        auto last = local<i32, 3>();
        last(1) += max(x);
        x(2) = last(0) + last(1) + last(2);
      }
      break_if(k == stop);
      for (auto [i] : kernel(N)) trace(i) += x(i) / 2;
      x = x + trace % 3;
    }
  }
};

TEST(HostLoops, ConditionsBreaksAndContinues) {
  for (const int n : {1, 3, 20})
    for (const auto& [rounds, stop] : {std::pair{0, 0}, {1, 5}, {5, 2}, {13, 9}, {14, 20}}) {
      auto x = scattered(n);
      std::vector<int> trace(x.size(), 0);
      const auto r = scopes::run(
          ir<branches>, {scopes::tensor({n}, x), scopes::scalar(rounds), scopes::scalar(stop), scopes::output<int>({n})});
      const auto clamped = [&](int i) { return static_cast<std::size_t>(std::clamp(i, 0, n - 1)); };
      int seen = 0;
      for (int k = 0; k < rounds; ++k) {
        if (k % 4 == 0) {
          for (int& v : x) v += k;
          if (std::accumulate(x.begin(), x.end(), 0) % 2 == 0) {
            for (int i = 0; i < n; ++i) x[clamped(i)] += i;
            ++seen;
          } else {
            for (int& v : x) v = -v;
          }
        } else if (k % 4 == 1) {
          for (std::size_t i = 0; i < x.size(); ++i) trace[i] += x[i];
          if (x[0] > 3) continue;
          for (int i = 0; i < std::min(k, n); ++i) trace[clamped(i)] -= 100;
          for (int& v : trace) v *= 2;
        } else if (k % 4 == 2) {
          for (int j = 0; j < k; ++j) {
            if (x[clamped(j)] < 0) break;
            x[clamped(j)] -= seen;
          }
        } else {
          x[clamped(2)] = std::ranges::max(x);
        }
        if (k == stop) break;
        for (std::size_t i = 0; i < x.size(); ++i) trace[i] += x[i] / 2;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += trace[i] % 3;
      }
      EXPECT_EQ(scopes::values<int>(r["x"]), x) << n << " " << rounds;
      EXPECT_EQ(scopes::values<int>(r["trace"]), trace) << n << " " << rounds;
    }
}

// Breaks at the beginning of an iteration, inside of conditions, and after each other.
struct leaving : program<leaving> {
  inout<i32, N> x;
  in<i32> limit;
  out<i32> iterations;
  constexpr void body() {
    auto full = var(0);
    for (auto a : forever()) {
      break_if(sum(x) > limit);
      x(0) += 1;
      if (auto c = when(x(0) % 3 == 0)) {
        x = x + 1;
        if (auto d = when(x(1) % 2 == 0)) {
          for (auto [i] : kernel(N)) x(i) += i;
          continue_();
        }
        x(0) += 2;
        break_if(x(2) > 90);
        for (auto [i] : kernel(N)) x(i) += 3;
      }
      if (auto c = otherwise(x(0) % 3 == 1)) {
        continue_if(max(x) > 40);
        x = x + 5;
      }
      for (auto [i] : kernel(a + 1)) x.at<mode::skip>(i) += 1;
      full += 1;
      for (auto b : loop(3)) {
        if (auto d = when(x(b) < 0)) {
          break_();
          x = x * 0;
        }
        x(b) += 1;
      }
    }
    iterations = full;
  }
};

TEST(HostLoops, BreaksAnywhere) {
  for (const int n : {1, 4, 13})
    for (const int limit : {-10000, 0, 300, 1000}) {
      auto x = scattered(n);
      const auto r = scopes::run(ir<leaving>, {scopes::tensor({n}, x), scopes::scalar(limit), scopes::output<int>({})});
      const auto at = [&](int i) -> int& { return x[static_cast<std::size_t>(std::clamp(i, 0, n - 1))]; };
      int full = 0;
      for (int a = 0;; ++a) {
        if (std::accumulate(x.begin(), x.end(), 0) > limit) break;
        at(0) += 1;
        if (at(0) % 3 == 0) {
          for (int& v : x) v += 1;
          if (at(1) % 2 == 0) {
            for (int i = 0; i < n; ++i) at(i) += i;
            continue;
          }
          at(0) += 2;
          if (at(2) > 90) break;
          for (int& v : x) v += 3;
        } else if (at(0) % 3 == 1) {
          if (std::ranges::max(x) > 40) continue;
          for (int& v : x) v += 5;
        }
        for (int i = 0; i < std::min(a + 1, n); ++i) at(i) += 1;
        full += 1;
        for (int b = 0; b < 3; ++b) {
          if (at(b) < 0) break;
          at(b) += 1;
        }
      }
      EXPECT_EQ(scopes::values<int>(r["x"]), x) << n << " " << limit;
      EXPECT_EQ(scopes::values<int>(r["iterations"])[0], full) << n << " " << limit;
    }
}

// A function with a loop around kernels, called in a loop. Its variable begins again in each call. Loops that do nothing.
constexpr auto smoothed(auto& x, Operand auto const& times) {
  auto s = scope(x);
  auto total = s.var(0);
  for ([[maybe_unused]] auto t : s.loop(times)) {
    for (auto [i] : s.kernel(N)) x(i) = (x(i) + i) / 2;
    total += sum(x);
  }
  for ([[maybe_unused]] auto t : s.loop(times)) [[maybe_unused]]
    auto unused = x + 1;
  return total + 0;
}
struct calls : program<calls> {
  inout<i32, N> x;
  out<i32, 4> totals;
  constexpr void body() {
    for (auto k : loop(4)) totals(k) = smoothed(x, k);
  }
};

TEST(HostLoops, Helpers) {
  auto x = scattered(21);
  const auto r = scopes::run(ir<calls>, {scopes::tensor({21}, x), scopes::output<int>({4})});
  for (int k = 0; k < 4; ++k) {
    int total = 0;
    for (int t = 0; t < k; ++t) {
      for (int i = 0; i < 21; ++i) x[static_cast<std::size_t>(i)] = (x[static_cast<std::size_t>(i)] + i) / 2;
      total += std::accumulate(x.begin(), x.end(), 0);
    }
    EXPECT_EQ(scopes::values<int>(r["totals"])[static_cast<std::size_t>(k)], total);
  }
  EXPECT_EQ(scopes::values<int>(r["x"]), x);
}

}  // namespace

}  // namespace host_programs_test
