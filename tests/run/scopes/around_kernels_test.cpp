// Loops around kernels and tensors, compared with the same code in C++.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/run/scopes/run_scopes.h"

namespace around_kernels_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

// Loops and conditions outside of kernels, extents that change in each iteration, and tensor statements between them.
struct host : program<host> {
  inout<i32, N> x;
  in<i32> rounds;
  out<i32> iterations;
  constexpr void body() {
    auto count = var(0);
    for (auto k : loop(rounds)) {
      for (auto [i] : kernel(k + 1)) x.at<mode::skip>(i) += 1;
      if (auto even = when(k % 2 == 0)) {
        x = x + 10;
        for (auto [i] : kernel(N)) x(i) += i;
        count += 1;
      }
      break_if(count == 3);
    }
    iterations = count;
  }
};

TEST(HostLoops, AroundKernelsAndTensors) {
  for (const int rounds : {0, 1, 4, 9}) {
    std::vector<int> x(7);
    std::iota(x.begin(), x.end(), 0);
    const auto r = scopes::run(ir<host>, {scopes::tensor({7}, x), scopes::scalar(rounds), scopes::output<int>({})});
    int count = 0;
    for (int k = 0; k < rounds && count < 3; ++k) {
      for (int i = 0; i <= k && i < 7; ++i) ++x[static_cast<std::size_t>(i)];
      if (k % 2 != 0) continue;
      for (int i = 0; i < 7; ++i) x[static_cast<std::size_t>(i)] += 10 + i;
      ++count;
    }
    EXPECT_EQ(scopes::values<int>(r["x"]), x);
    EXPECT_EQ(scopes::values<int>(r["iterations"])[0], count);
  }
}

// As in the front end's reference: a host loop that runs a kernel per step.
struct bitonic_sort : program<bitonic_sort> {
  inout<i32, N> keys;
  inout<i32, N> values;
  constexpr void body() {
    auto count = keys.size<0>();
    auto log2n = ceil(log2(cast<f32>(count)));
    auto nround = cast<i32>(exp2(log2n));
    auto steps = cast<i32>(log2n * (log2n + 1.0f) / 2.0f);
    for (auto step : loop(steps)) {
      auto j = floor(sqrt(cast<f32>(2 * step) + 1.0f) - 0.5f);
      auto n = round(cast<f32>(step) - 0.5f * j * (j + 1.0f));
      auto B = cast<i32>(round(exp2(j - n)));
      auto mask = select(n < 0.5f, 2 * B - 1, B);
      for (auto [id] : kernel(nround / 2)) {
        auto e1 = id % B + 2 * B * (id / B);
        auto e2 = e1 ^ mask;
        if (auto in_range = when(e1 < count && e2 < count)) {
          auto key1 = keys(e1), key2 = keys(e2);
          if (auto swap = when(key1 < key2)) {
            auto val1 = values(e1), val2 = values(e2);
            unique(keys(e1)) = key2;
            unique(keys(e2)) = key1;
            unique(values(e1)) = val2;
            unique(values(e2)) = val1;
          }
        }
      }
    }
  }
};

TEST(HostLoops, BitonicSort) {
  for (const int n : {1, 2, 8, 32, 100}) {
    std::vector<int> keys, places;
    for (int i = 0; i < n; ++i) keys.push_back(i * 7919 % 1009), places.push_back(i);
    const auto r = scopes::run(ir<bitonic_sort>, {scopes::tensor({n}, keys), scopes::tensor({n}, places)});
    const auto sorted = scopes::values<int>(r["keys"]), moved = scopes::values<int>(r["values"]);
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(sorted[static_cast<std::size_t>(i)], keys[static_cast<std::size_t>(moved[static_cast<std::size_t>(i)])]);
    std::sort(keys.begin(), keys.end(), std::greater<>());
    EXPECT_EQ(sorted, keys) << n;
  }
}

}  // namespace

}  // namespace around_kernels_test
