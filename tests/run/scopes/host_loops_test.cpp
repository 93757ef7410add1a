// Loops around kernels and tensors: programs in textual form (host_loops/*.kiln), compared with the same code in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/run/scopes/run_scopes.h"

namespace host_loops_test {

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int>;

// Small numbers without a pattern, so that a wrong index shows.
template <class T>
std::vector<T> scattered(std::size_t n) {
  std::vector<T> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<T>((i * 7919 + 13) % 101) - T{50});
  return v;
}

void wave_in_cpp(int steps, Floats& now, Floats& before) {
  const std::size_t n = now.size();
  for (int t = 0; t < steps; ++t) {
    Floats next(n);
    for (std::size_t i = 0; i < n; ++i) {
      const float twice = 2 * now[i], around = (now[(i + n - 1) % n] + now[(i + 1) % n]) - twice, push = 0.25f * around;
      next[i] = (twice - before[i]) + push;
    }
    before = now;
    now = next;
  }
}

TEST(HostLoopTexts, Wave) {
  for (const std::size_t n : {1u, 2u, 37u, 1000u})
    for (const int steps : {-1, 0, 1, 2, 7}) {
      Floats now = scattered<float>(n), before = scattered<float>(n);
      std::ranges::reverse(before);
      const auto r =
          scopes::run_file("wave.kiln", {scopes::scalar(steps), scopes::scalar(0.25f), scopes::tensor({std::ssize(now)}, now),
                                         scopes::tensor({std::ssize(now)}, before)});
      wave_in_cpp(steps, now, before);
      EXPECT_EQ(scopes::values<float>(r["now"]), now) << n << " " << steps;
      EXPECT_EQ(scopes::values<float>(r["before"]), before) << n << " " << steps;
    }
}

TEST(HostLoopTexts, Bitonic) {
  for (const int levels : {0, 1, 2, 5, 11}) {
    Floats keys = scattered<float>(std::size_t{1} << levels);
    const auto r = scopes::run_file("bitonic.kiln", {scopes::scalar(levels), scopes::tensor({std::ssize(keys)}, keys)});
    std::ranges::sort(keys);
    EXPECT_EQ(scopes::values<float>(r["keys"]), keys) << levels;
  }
}

TEST(HostLoopTexts, UntilSmall) {
  for (const float limit : {1e9f, 1000.0f, 1.0f, 1e-30f, -1.0f}) {
    Floats x = {30, -4, 2, 7};
    const auto r =
        scopes::run_file("until_small.kiln", {scopes::scalar(limit), scopes::tensor({4}, x), scopes::output<int>({})});
    int iterations = 0;
    const auto large = [&] { return limit <= std::inner_product(x.begin(), x.end(), x.begin(), 0.0f); };
    for (; iterations < 100 && large(); ++iterations)
      for (float& v : x) v *= 0.5f;
    EXPECT_EQ(scopes::values<float>(r["x"]), x) << limit;
    EXPECT_EQ(scopes::values<int>(r["iterations"])[0], iterations) << limit;
  }
}

TEST(HostLoopTexts, Growing) {
  for (const std::size_t n : {0u, 1u, 5u, 200u}) {
    const Ints x = scattered<int>(n);
    Ints y(n, 3);
    const auto r = scopes::run_file("growing.kiln", {scopes::tensor({std::ssize(x)}, x), scopes::tensor({std::ssize(x)}, y)});
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k <= i; ++k) y[k] += x[i] * static_cast<int>(k + 1);
    EXPECT_EQ(scopes::values<int>(r["y"]), y) << n;
  }
}

TEST(HostLoopTexts, Halving) {
  for (const std::size_t n : {1u, 2u, 16u, 1024u}) {
    Floats x = scattered<float>(n + 3);
    const auto r = scopes::run_file("halving.kiln", {scopes::scalar(static_cast<int>(n)), scopes::tensor({std::ssize(x)}, x)});
    for (std::size_t half = n / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) x[i] += x[i + half];
    EXPECT_EQ(scopes::values<float>(r["x"]), x) << n;
  }
}

TEST(HostLoopTexts, FromData) {
  for (const Ints& bounds : {Ints{0, 5, 0}, {-4, 9, 2}, {7, 7, 4}, {9, -9, 9}, {-5, -4, -3}}) {
    Ints x = scattered<int>(6);
    const auto r = scopes::run_file("from_data.kiln",
                                    {scopes::tensor({3}, bounds), scopes::tensor({6}, x), scopes::output<std::int64_t>({})});
    std::int64_t positions = 0;
    for (int i = bounds[0]; i < bounds[1]; i += 3) {
      for (int& v : x) v += i;
      positions += i;
    }
    for (int i = bounds[2]; i < 4; ++i) {
      const int sum = std::accumulate(x.begin(), x.end(), 0);
      for (int& v : x) v = sum - v;
    }
    EXPECT_EQ(scopes::values<int>(r["x"]), x);
    EXPECT_EQ(scopes::values<std::int64_t>(r["positions"])[0], positions);
  }
}

TEST(HostLoopTexts, Counted) {
  for (const auto& [rows, n] : {std::pair{0, 4}, {3, 0}, {1, 1}, {5, 900}}) {
    const Ints x = scattered<int>(static_cast<std::size_t>(rows * n));
    Ints counts(8, 1), seen;
    const auto r = scopes::run_file("counted.kiln",
                                    {scopes::tensor({rows, n}, x), scopes::tensor({8}, counts), scopes::output<int>({rows})});
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(x[static_cast<std::size_t>(row * n + i)] & 7)];
      seen.push_back(std::ranges::max(counts));
    }
    EXPECT_EQ(scopes::values<int>(r["counts"]), counts);
    EXPECT_EQ(scopes::values<int>(r["seen"]), seen);
  }
}

TEST(HostLoopTexts, Condition) {
  for (const int n : {2, 3, 4}) {
    Ints x = scattered<int>(70);
    const auto r = scopes::run_file("condition.kiln", {scopes::scalar(n), scopes::tensor({70}, x)});
    for (int i = 0; n > 3 && i < 70; ++i) x[static_cast<std::size_t>(i)] = 3 * (x[static_cast<std::size_t>(i)] + i);
    EXPECT_EQ(scopes::values<int>(r["x"]), x) << n;
  }
}

TEST(HostLoopTexts, Power) {
  for (const std::size_t n : {0u, 1u, 2u, 6u}) {
    const auto a = scattered<double>(n * n);
    auto u = a;
    std::ranges::reverse(u);
    const auto s = static_cast<std::int64_t>(n);
    const auto r = scopes::run_file("power.kiln", {scopes::tensor({s, s}, a), scopes::tensor({s, s}, u)});
    for (std::size_t t = 0; t < n; ++t) {
      std::vector<double> next(n * n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t k = 0; k < n; ++k) next[i * n + j] = std::fma(u[i * n + k], a[k * n + j], next[i * n + j]);
      u = next;
    }
    EXPECT_EQ(scopes::values<double>(r["u"]), u) << n;
  }
}

}  // namespace

}  // namespace host_loops_test
