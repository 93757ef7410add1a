// The number of kernels in an iteration of a host loop, and unchanged results. Copies of values that
// are dead are removed.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <numeric>

#include "tests/run/scopes/run_scopes.h"

namespace host_kernels_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"T"> T;

std::vector<float> numbers(int n) {
  std::vector<float> v;
  for (int i = 0; i < n; ++i) v.push_back(static_cast<float>((i * 7919 + 13) % 101 - 50));
  return v;
}
std::size_t wrapped(std::size_t i, std::int64_t by, std::size_t n) {
  const auto size = static_cast<std::int64_t>(n);
  return static_cast<std::size_t>((static_cast<std::int64_t>(i) + by + size) % size);
}

// A kernel changes v in place, and later statements read the new v.
struct pull : program<pull> {
  in<i32> steps;
  inout<f32, N> x, v;
  constexpr void body() {
    for ([[maybe_unused]] auto t : loop(steps)) {
      for (auto [i] : kernel(N)) {
        auto a = var(0.0f);
        for (auto j : loop(N)) a += x(j) - x(i);
        v(i) += 0.125f * a;
      }
      x = x + 0.125f * v;
    }
  }
};

TEST(HostKernels, UpdateThatIsReadBehindIt) {
  EXPECT_EQ(scopes::kernels_in_loops(ir<pull>), 2);
  for (const int steps : {0, 1, 2, 7}) {
    auto x = numbers(19), v = numbers(19);
    std::ranges::reverse(v);
    const auto r = scopes::run(ir<pull>, {scopes::scalar(steps), scopes::tensor({19}, x), scopes::tensor({19}, v)});
    for (int t = 0; t < steps; ++t) {
      for (std::size_t i = 0; i < 19; ++i) {
        float a = 0;
        for (std::size_t j = 0; j < 19; ++j) a += x[j] - x[i];
        v[i] += 0.125f * a;
      }
      for (std::size_t i = 0; i < 19; ++i) x[i] += 0.125f * v[i];
    }
    EXPECT_EQ(scopes::values<float>(r["x"]), x) << steps;
    EXPECT_EQ(scopes::values<float>(r["v"]), v) << steps;
  }
}

// Each iteration writes one element, which is read again. The tensor around it is not copied.
struct history : program<history> {
  in<i32> steps;
  in<f32> limit;
  inout<f32, N> u;
  inout<f32, T> last;
  constexpr void body() {
    for (auto t : loop(steps)) {
      u = 0.5f * u;
      last(t) = max(u);
      break_if(last(t) < limit);
    }
  }
};

TEST(HostKernels, ElementOfAHistory) {
  EXPECT_EQ(scopes::copies_in_loops(ir<history>), 0);
  for (const int steps : {0, 1, 2, 7})
    for (const float limit : {0.0f, 10.0f, 100.0f}) {
      auto u = numbers(30), last = numbers(8);
      const auto r = scopes::run(
          ir<history>, {scopes::scalar(steps), scopes::scalar(limit), scopes::tensor({30}, u), scopes::tensor({8}, last)});
      for (std::size_t t = 0; t < static_cast<std::size_t>(steps); ++t) {
        for (float& e : u) e *= 0.5f;
        last[t] = std::ranges::max(u);
        if (last[t] < limit) break;
      }
      EXPECT_EQ(scopes::values<float>(r["u"]), u) << steps << " " << limit;
      EXPECT_EQ(scopes::values<float>(r["last"]), last) << steps << " " << limit;
    }
}

// Two kernels in a row. The second reads the first one's output everywhere, and changes the tensor that the first has read.
struct there_and_back : program<there_and_back> {
  in<i32> steps;
  inout<f32, N> u;
  out<f32, N> w;
  constexpr void body() {
    for (auto [i] : kernel(N)) w(i) = 0.0f;
    for ([[maybe_unused]] auto t : loop(steps)) {
      for (auto [i] : kernel(N)) w(i) = 0.5f * u(i);
      for (auto [i] : kernel(N)) u(i) = w.at<mode::wrap>(i - 1) + w.at<mode::wrap>(i + 1);
    }
  }
};

TEST(HostKernels, ThereAndBack) {
  EXPECT_EQ(scopes::kernels_in_loops(ir<there_and_back>), 2);
  for (const int steps : {0, 1, 2, 7}) {
    auto u = numbers(33);
    std::vector<float> w(33, 0.0f);
    const auto r =
        scopes::run(ir<there_and_back>, {scopes::scalar(steps), scopes::tensor({33}, u), scopes::output<float>({33})});
    for (int t = 0; t < steps; ++t) {
      for (std::size_t i = 0; i < 33; ++i) w[i] = 0.5f * u[i];
      for (std::size_t i = 0; i < 33; ++i) u[i] = w[wrapped(i, -1, 33)] + w[wrapped(i, 1, 33)];
    }
    EXPECT_EQ(scopes::values<float>(r["u"]), u) << steps;
    EXPECT_EQ(scopes::values<float>(r["w"]), w) << steps;
  }
}

// An extent that depends on the loop counter. No kernel computes it.
struct growing : program<growing> {
  inout<f32, N> u;
  constexpr void body() {
    for (auto t : loop(size<N, i32>()))
      for (auto [i] : kernel(t + 1)) u(i) += 1.0f;
  }
};

TEST(HostKernels, ExtentOfTheIteration) {
  EXPECT_EQ(scopes::all_kernels(ir<growing>), 1);
  for (const int n : {0, 1, 2, 7, 40}) {
    auto u = numbers(n);
    const auto r = scopes::run(ir<growing>, {scopes::tensor({n}, u)});
    for (int t = 0; t < n; ++t)
      for (int i = 0; i <= t; ++i) u[static_cast<std::size_t>(i)] += 1.0f;
    EXPECT_EQ(scopes::values<float>(r["u"]), u) << n;
  }
}

// A tensor that is stored reads a state between two updates. It is computed between them, and nothing is copied.
struct between : program<between> {
  inout<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) x(i) = x(i) + 1.0f;
    y = roll<0, 1>(x) * 2.0f;
    for (auto [i] : kernel(N)) x(i) = x(i) * 3.0f;
  }
};

TEST(HostKernels, StateBetweenTwoUpdates) {
  EXPECT_EQ(scopes::all_kernels(ir<between>), 3);
  auto x = numbers(21);
  const auto r = scopes::run(ir<between>, {scopes::tensor({21}, x), scopes::output<float>({21})});
  std::vector<float> y(21);
  for (float& e : x) e += 1.0f;
  for (std::size_t i = 0; i < 21; ++i) y[i] = 2.0f * x[wrapped(i, -1, 21)];
  for (float& e : x) e *= 3.0f;
  EXPECT_EQ(scopes::values<float>(r["x"]), x);
  EXPECT_EQ(scopes::values<float>(r["y"]), y);
}

}  // namespace

}  // namespace host_kernels_test
