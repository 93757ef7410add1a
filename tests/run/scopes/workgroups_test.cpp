// Kernels with workgroups: memory that work items share, and values that they keep from one barrier to the next.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <numeric>

#include "tests/run/scopes/workgroups.h"

namespace workgroups_test {

using namespace kiln;

namespace {

using scopes::each_workgroup;
using scopes::H;
using scopes::integers;
using scopes::N;
using scopes::numbers;
using scopes::sizes;
using scopes::W;

// One barrier. Work items outside of x leave zeros, which are not read: a workgroup of k work items is reversed within k.
template <int G>
struct reversal : program<reversal<G>> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : this->kernel(N).template workgroup<G>()) {
      auto s = this->template shared<f32, G>();
      auto t = this->local_id(i);
      auto first = this->group_id(i) * G;
      s(t) = x(i);
      this->barrier();
      y(i) = s(min(x.template size<0>() - first, G) - 1 - t);
    }
  }
};
template <int G>
void check_reversal() {
  for (const int n : sizes) {
    const auto x = numbers(n);
    auto expected = x;
    each_workgroup(n, G, [&](int first, int end) { std::reverse(expected.begin() + first, expected.begin() + end); });
    const auto r = scopes::run(ir<reversal<G>>, {scopes::tensor({n}, x), scopes::output<float>({n})});
    EXPECT_EQ(scopes::values<float>(r["y"]), expected) << "workgroups of " << G << ", " << n;
  }
}
TEST(Workgroups, Reversal) {
  check_reversal<1>();
  check_reversal<7>();
  check_reversal<64>();
  check_reversal<256>();
}

// Two barriers in a loop whose bound is a variable that is equal for all work items.
template <int G>
struct scan : program<scan<G>> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : this->kernel(N).template workgroup<G>()) {
      auto s = this->template shared<i32, G>();
      auto t = this->local_id(i);
      s(t) = x(i);
      auto distance = this->var(1);
      for ([[maybe_unused]] auto step : this->forever()) {
        this->break_if(distance >= G);
        this->barrier();
        auto before = select(t >= distance, s(t - distance), 0);
        this->barrier();
        s(t) += before;
        distance = distance * 2;
      }
      y(i) = s(t);
    }
  }
};
template <int G>
void check_scan() {
  for (const int n : sizes) {
    const auto x = integers(n);
    auto expected = x;
    each_workgroup(n, G,
                   [&](int first, int end) { std::partial_sum(x.begin() + first, x.begin() + end, expected.begin() + first); });
    const auto r = scopes::run(ir<scan<G>>, {scopes::tensor({n}, x), scopes::output<int>({n})});
    EXPECT_EQ(scopes::values<int>(r["y"]), expected) << "workgroups of " << G << ", " << n;
  }
}
TEST(Workgroups, Scan) {
  check_scan<1>();
  check_scan<7>();
  check_scan<64>();
  check_scan<256>();
}

// Workgroups with two axes, and a loop with a counter around barriers.
template <int A, int B>
struct tiles : program<tiles<A, B>> {
  in<f32, H, W> x;
  out<f32, H, W> y;
  constexpr void body() {
    for (auto [i, j] : this->kernel(H, W).template workgroup<A, B>()) {
      auto s = this->template shared<f32, A, B>();
      auto a = this->local_id(i), b = this->local_id(j);
      s(a, b) = x(i, j);
      auto v = this->var(0.0f);
      for (auto iteration : this->loop(3)) {
        this->barrier();
        v += s(A - 1 - a, B - 1 - b);
        this->barrier();
        s(a, b) = v + cast<f32>(iteration);
      }
      y(i, j) = v;
    }
  }
};
template <int A, int B>
void check_tiles() {
  for (const int h : {1, 8, 19})
    for (const int w : {3, 16, 37}) {
      const auto x = numbers(h * w);
      std::vector<float> expected(x.size());
      for (int top = 0; top < h; top += A)
        for (int left = 0; left < w; left += B) {
          float s[A][B] = {}, v[A][B] = {};
          const auto each = [&](auto f) {
            for (int a = 0; a < A && top + a < h; ++a)
              for (int b = 0; b < B && left + b < w; ++b) f(a, b, static_cast<std::size_t>((top + a) * w + left + b));
          };
          each([&](int a, int b, std::size_t at) { s[a][b] = x[at]; });
          for (int iteration = 0; iteration < 3; ++iteration) {
            each([&](int a, int b, std::size_t) { v[a][b] += s[A - 1 - a][B - 1 - b]; });
            each([&](int a, int b, std::size_t) { s[a][b] = v[a][b] + static_cast<float>(iteration); });
          }
          each([&](int a, int b, std::size_t at) { expected[at] = v[a][b]; });
        }
      const auto r = scopes::run(ir<tiles<A, B>>, {scopes::tensor({h, w}, x), scopes::output<float>({h, w})});
      EXPECT_EQ(scopes::values<float>(r["y"]), expected) << A << " x " << B << ", " << h << " x " << w;
    }
}
TEST(Workgroups, Tiles) {
  check_tiles<8, 8>();
  check_tiles<4, 16>();
  check_tiles<16, 1>();
}

// Values, variables, small vectors and arrays of a work item are kept across barriers.
struct kept : program<kept> {
  in<f32, N> x;
  in<i32, N> k;
  out<f32, N> y;
  out<f32, N> z;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<64>()) {
      auto s = shared<f32, 64>();
      auto t = local_id(i);
      auto value = x(i) * 2.0f;    // float value
      auto number = var(k(i));     // integer variable
      auto v = var<f32, 3>(0.5f);  // small vector
      auto a = local<f32, 4>();    // array
      v = v * value;
      a(k(i)) = value;
      s(t) = value;
      barrier();
      auto other = s(t ^ 1);
      number = number + cast<i32>(other);
      v = v + other;
      a(number) += other;
      barrier();
      s(63 - t) = cast<f32>(number) + value;
      barrier();
      y(i) = sum(v) + s(t) + a(0) + a(3);
      z(i) = cast<f32>(number) + value;
    }
  }
};
TEST(Workgroups, ValuesLiveAcrossBarriers) {
  for (const int n : {1, 64, 100, 640}) {
    const auto x = numbers(n);
    const auto k = integers(n);
    std::vector<float> y(x.size()), z(x.size());
    each_workgroup(n, 64, [&](int first, int end) {
      const auto count = static_cast<std::size_t>(end - first), from = static_cast<std::size_t>(first);
      const auto at = [](int i) { return static_cast<std::size_t>(std::clamp(i, 0, 3)); };
      std::array<float, 64> s{}, reversed{};
      std::vector<int> number(count);
      std::vector<std::array<float, 4>> a(count);
      std::vector<float> v(count);
      for (std::size_t t = 0; t < count; ++t) {
        s[t] = x[from + t] * 2.0f;
        v[t] = 0.5f * s[t];
        a[t][at(k[from + t])] = s[t];
      }
      reversed = s;
      for (std::size_t t = 0; t < count; ++t) {
        const float other = s[t ^ 1];
        number[t] = k[from + t] + static_cast<int>(other);
        v[t] += other;
        a[t][at(number[t])] += other;
      }
      for (std::size_t t = 0; t < count; ++t) reversed[63 - t] = static_cast<float>(number[t]) + s[t];
      for (std::size_t t = 0; t < count; ++t) {
        y[from + t] = v[t] + v[t] + v[t] + reversed[t] + a[t][0] + a[t][3];
        z[from + t] = static_cast<float>(number[t]) + s[t];
      }
    });
    const auto r = scopes::run(
        ir<kept>, {scopes::tensor({n}, x), scopes::tensor({n}, k), scopes::output<float>({n}), scopes::output<float>({n})});
    EXPECT_EQ(scopes::values<float>(r["z"]), z) << n;
    EXPECT_EQ(scopes::values<float>(r["y"]), y) << n;
  }
}

// Work items leave a loop between two barriers at different iterations. The ones that have left it wait.
struct early : program<early> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<32>()) {
      auto s = shared<i32, 32>();
      auto t = local_id(i);
      auto n = var(x(i));
      auto iterations = var(0);
      for (auto iteration : loop(50)) {
        break_if(n <= 1);
        continue_if(iteration == 3);
        n = select((n & 1) == 0, n / 2, 3 * n + 1);
        iterations += 1;
      }
      s(t) = iterations;
      barrier();
      if (auto c = when(n > 1)) iterations = s((t + 1) % 32);
      barrier();
      y(i) = iterations + s(31 - t);
    }
  }
};
TEST(Workgroups, WorkItemsLeaveLoopsBetweenBarriers) {
  for (const int n : {5, 32, 77, 320}) {
    auto x = integers(n);
    for (int& v : x) v = std::abs(v) + 1;
    std::vector<int> y(x.size());
    each_workgroup(n, 32, [&](int first, int end) {
      std::array<int, 32> s{}, left{}, iterations{};
      for (int t = 0; first + t < end; ++t) {
        const auto p = static_cast<std::size_t>(t);
        left[p] = x[static_cast<std::size_t>(first + t)];
        for (int iteration = 0; iteration < 50 && left[p] > 1; ++iteration) {
          if (iteration == 3) continue;
          left[p] = left[p] % 2 == 0 ? left[p] / 2 : 3 * left[p] + 1;
          ++iterations[p];
        }
        s[p] = iterations[p];
      }
      for (int t = 0; first + t < end; ++t) {
        const auto p = static_cast<std::size_t>(t);
        if (left[p] > 1) iterations[p] = s[(p + 1) % 32];
        y[static_cast<std::size_t>(first + t)] = iterations[p] + s[31 - p];
      }
    });
    const auto r = scopes::run(ir<early>, {scopes::tensor({n}, x), scopes::output<int>({n})});
    EXPECT_EQ(scopes::values<int>(r["y"]), y) << n;
  }
}

// Atomics on shared memory of a workgroup. Its results are added to the whole by atomics too.
struct histogram : program<histogram> {
  in<i32, N> x;
  inout<i32, 16> counts;
  out<i32, N> largest;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<256>()) {
      auto bins = shared<i32, 16>();
      auto most = shared<i32, 1>();
      auto t = local_id(i);
      bins(x(i) & 15).atomic_add(1);
      barrier();
      if (auto c = when(t < 16)) {
        counts(t).atomic_add(bins(t));
        most(0).atomic_max(bins(t));
      }
      barrier();
      largest(i) = most(0);
    }
  }
};
TEST(Workgroups, AtomicsOfAWorkgroup) {
  for (const int n : {16, 256, 1000}) {  // multiples of 16, so that 16 work items of each workgroup read its bins
    const auto x = integers(n / 16 * 16);
    const auto count = static_cast<std::int64_t>(x.size());
    std::vector<int> counts(16), largest(x.size());
    each_workgroup(static_cast<int>(x.size()), 256, [&](int first, int end) {
      std::array<int, 16> bins{};
      for (int i = first; i < end; ++i) ++bins[static_cast<std::size_t>(x[static_cast<std::size_t>(i)] & 15)];
      for (std::size_t b = 0; b < 16; ++b) counts[b] += bins[b];
      std::fill(largest.begin() + first, largest.begin() + end, *std::ranges::max_element(bins));
    });
    const auto r = scopes::run(
        ir<histogram>, {scopes::tensor({count}, x), scopes::tensor({16}, std::vector<int>(16)), scopes::output<int>({count})});
    EXPECT_EQ(scopes::values<int>(r["counts"]), counts) << n;
    EXPECT_EQ(scopes::values<int>(r["largest"]), largest) << n;
  }
}

// Each work item of a plain kernel has its own array, in every lane.
struct own_bins : program<own_bins> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto bins = local<i32, 4>();
      for (auto k : loop(9)) bins((x(i) >> k) & 3).atomic_add(k);
      y(i) = bins(0) - 3 * bins(1) + 5 * bins(2) + bins(3);
    }
  }
};
TEST(Workgroups, AtomicsOfLocalArrays) {
  const auto x = integers(100);
  std::vector<int> y;
  for (const int v : x) {
    std::array<int, 4> bins{};
    for (int k = 0; k < 9; ++k) bins[static_cast<std::size_t>(v >> k & 3)] += k;
    y.push_back(bins[0] - 3 * bins[1] + 5 * bins[2] + bins[3]);
  }
  const auto r = scopes::run(ir<own_bins>, {scopes::tensor({100}, x), scopes::output<int>({100})});
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
}

// A local array from outside of the kernel is shared by all work items, which may read any element in any phase.
struct array_of_outside : program<array_of_outside> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    auto table = local<i32, 3, 4>();
    for (auto k : loop(4)) table(1, k) = 10 * k;
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto s = shared<i32, 8>();
      auto before = table(1, x(i));
      s(local_id(i)) = before;
      barrier();
      y(i) = s(0) + table(1, x(i)) - before + table(i & 1, 2);
    }
  }
};
TEST(Workgroups, ArrayOfOutside) {
  const int n = 19;
  const auto x = integers(n);
  std::vector<int> expected;
  for (int i = 0; i < n; ++i)
    expected.push_back(10 * std::clamp(x[static_cast<std::size_t>(i / 8 * 8)], 0, 3) + (i % 2 == 1 ? 20 : 0));
  const auto r = scopes::run(ir<array_of_outside>, {scopes::tensor({n}, x), scopes::output<int>({n})});
  EXPECT_EQ(scopes::values<int>(r["y"]), expected);
}

}  // namespace

}  // namespace workgroups_test
