// Elements of tensors that are not parameters: computed tensors, and tensors and small vectors in variables.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <limits>

#include "tests/run/scopes/run_scopes.h"

namespace values_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

using Ints = std::vector<int>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
Ints numbers(std::int64_t n) {
  Ints out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<int>(i * 37 % 101) - 50);
  return out;
}
int floormod(int a, int n) { return (a % n + n) % n; }

struct computed : program<computed> {
  in<i32, N, 4> x;
  in<i32, N> place;
  out<i32, N> neighbours, looked_up;
  out<i32> first;
  out<i32, N, 4> rows;
  constexpr void body() {
    auto twice = x * 2;
    auto total = sum<1>(x);
    auto table = arange<8, i32>() * 3 - 5;
    first = twice(0, 1) + total(0);
    rows = twice(place);
    for (auto [i] : kernel(N)) {
      neighbours(i) = total.at<mode::wrap>(i - 1) + total.at<mode::constant>(i + 1, 1000) + twice(i, place(i));
      looked_up(i) = table(place(i)) + (table + 1)(place(i) + 1);
    }
  }
};

TEST(Values, ElementsOfComputedTensors) {
  for (const int n : {1, 2, 37}) {
    const Ints x = numbers(n * 4), place = numbers(n);
    const auto r = scopes::run(ir<computed>, {scopes::tensor({n, 4}, x), scopes::tensor({n}, place), scopes::output<int>({n}),
                                              scopes::output<int>({n}), scopes::output<int>({}), scopes::output<int>({n, 4})});
    const auto twice = [&](int i, int k) { return 2 * x[at(std::clamp(i, 0, n - 1) * 4 + std::clamp(k, 0, 3))]; };
    const auto total = [&](int i) { return x[at(i * 4)] + x[at(i * 4 + 1)] + x[at(i * 4 + 2)] + x[at(i * 4 + 3)]; };
    const auto table = [](int i) { return std::clamp(i, 0, 7) * 3 - 5; };
    Ints neighbours, looked_up, rows;
    for (int i = 0; i < n; ++i) {
      const int p = place[at(i)], above = total(floormod(i - 1, n)), below = i + 1 < n ? total(i + 1) : 1000;
      neighbours.push_back(above + below + twice(i, p));
      looked_up.push_back(table(p) + table(p + 1) + 1);
      for (int k = 0; k < 4; ++k) rows.push_back(twice(p, k));
    }
    EXPECT_EQ(scopes::values<int>(r["neighbours"]), neighbours) << n;
    EXPECT_EQ(scopes::values<int>(r["looked_up"]), looked_up) << n;
    EXPECT_EQ(scopes::values<int>(r["rows"]), rows) << n;
    EXPECT_EQ(scopes::values<int>(r["first"]), Ints{twice(0, 1) + total(0)}) << n;
  }
}

// Each work item has its own vectors. C++ numbers, counters and data are indices.
struct vectors : program<vectors> {
  in<i32, N, 3> x;
  in<i32, N> which;
  out<i32, N> picked, product, sorted_middle, counted;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto v = var<i32, 3>(0);
      for (int a = 0; a < 3; ++a) v(a) = x(i, 2 - a);
      auto row = x(i);
      for (auto k : loop(3)) v(k) += 10 * row(k);
      picked(i) = v(which(i)) + v.at<mode::constant>(which(i), 500) * 7;
      auto w = v * row;
      product(i) = w(0) + 3 * w(1) + 5 * w(2);
      auto s = var(row);
      for (auto pass : loop(2))
        for (auto k : loop(2))
          if (auto c = when(s(k + 1) < s(k))) {
            auto low = s(k + 1), high = s(k);
            s(k) = low;
            s(k + 1) = high;
          }
      sorted_middle(i) = s(1);
      auto count = var<i32, 2, 2>(0);
      for (auto k : loop(3)) {
        auto before = count(k, row(k)).atomic_add(row(k));
        count.at<mode::skip>(before, 1) -= 1;
      }
      counted(i) = count(0, 0) + 10 * count(0, 1) + 100 * count(1, 0) + 1000 * count(1, 1);
    }
  }
};

TEST(Values, SmallVectorsInKernels) {
  const int n = 37;
  const Ints x = numbers(n * 3), which = numbers(n);
  const auto r = scopes::run(ir<vectors>, {scopes::tensor({n, 3}, x), scopes::tensor({n}, which), scopes::output<int>({n}),
                                           scopes::output<int>({n}), scopes::output<int>({n}), scopes::output<int>({n})});
  for (int i = 0; i < n; ++i) {
    const int* row = &x[at(i * 3)];
    int v[3], s[3] = {row[0], row[1], row[2]}, count[2][2] = {};
    for (int a = 0; a < 3; ++a) v[a] = row[2 - a] + 10 * row[a];
    const int p = which[at(i)];
    EXPECT_EQ(scopes::values<int>(r["picked"])[at(i)], v[std::clamp(p, 0, 2)] + 7 * (p >= 0 && p < 3 ? v[p] : 500));
    EXPECT_EQ(scopes::values<int>(r["product"])[at(i)], v[0] * row[0] + 3 * v[1] * row[1] + 5 * v[2] * row[2]);
    std::sort(s, s + 3);
    EXPECT_EQ(scopes::values<int>(r["sorted_middle"])[at(i)], s[1]);
    for (int k = 0; k < 3; ++k) {
      int& c = count[std::min(k, 1)][std::clamp(row[k], 0, 1)];
      const int before = c;
      c += row[k];
      if (before >= 0 && before < 2) count[before][1] -= 1;
    }
    EXPECT_EQ(scopes::values<int>(r["counted"])[at(i)],
              count[0][0] + 10 * count[0][1] + 100 * count[1][0] + 1000 * count[1][1]);
  }
}

// A tensor in a variable is memory that kernels share.
struct scratch : program<scratch> {
  in<i32, N> x;
  in<i32> iterations;
  out<i32, N> y;
  out<i32, 8> bins;
  out<i32> total;
  constexpr void body() {
    auto a = var(x), b = var(x);
    auto histogram = var<i32, 8>(0);
    auto all = var(0);
    a(0) = 5;
    for (auto t : loop(iterations)) {
      for (auto [i] : kernel(N)) b(i) = a.at<mode::wrap>(i + 1) + t;
      for (auto [i] : kernel(N)) {
        if (auto c = when(b(i) > 0)) a(i) = b(i) - a(i);
        histogram.at<mode::wrap>(b(i)).atomic_add(1);
        all().atomic_add(b(i));
      }
      a(t) += 100;
    }
    y = a;
    bins = histogram;
    total = all;
  }
};

TEST(Values, TensorsInVariables) {
  for (const int n : {1, 2, 37})
    for (const int iterations : {0, 1, 5}) {
      const Ints x = numbers(n);
      const auto r = scopes::run(ir<scratch>, {scopes::tensor({n}, x), scopes::scalar(iterations), scopes::output<int>({n}),
                                               scopes::output<int>({8}), scopes::output<int>({})});
      Ints a = x, b = x, bins(8);
      int total = 0;
      a[0] = 5;
      for (int t = 0; t < iterations; ++t) {
        for (int i = 0; i < n; ++i) b[at(i)] = a[at((i + 1) % n)] + t;
        for (int i = 0; i < n; ++i) {
          if (b[at(i)] > 0) a[at(i)] = b[at(i)] - a[at(i)];
          ++bins[at(floormod(b[at(i)], 8))];
          total += b[at(i)];
        }
        a[at(std::min(t, n - 1))] += 100;
      }
      EXPECT_EQ(scopes::values<int>(r["y"]), a);
      EXPECT_EQ(scopes::values<int>(r["bins"]), bins);
      EXPECT_EQ(scopes::values<int>(r["total"])[0], total);
    }
}

// Elements of variables on both sides of barriers: one variable for each work item, workgroup or program.
struct grouped : program<grouped> {
  in<i32, N> x;
  out<i32, N> y;
  out<i32, 4> sums;
  constexpr void body() {
    auto all = var<i32, 4>(0);
    auto turned = var(x);
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto common = shared<i32, 8>();
      auto own = var<i32, 3>(0);
      auto iterations = var<i32, 2>(0);
      auto t = local_id(i);
      for (auto k : loop(3)) own(k) = x(i) + k;
      common(t) = own(2);
      iterations(1) += 2;
      barrier();
      own(t % 3) += common(7 - t);
      for (auto k : loop(iterations(1))) {
        barrier();
        common(t) = own(k) + 1;
        barrier();
        own(k + 1) += common.at<mode::wrap>(t + 1);
      }
      turned(i) = own(0) + 10 * own(1) + 100 * own(2);
      all.at<mode::wrap>(x(i)).atomic_add(own(2));
    }
    y = turned;
    sums = all;
  }
};

TEST(Values, VariablesAcrossBarriers) {
  for (const int n : {8, 40}) {
    const Ints x = numbers(n);
    const auto r = scopes::run(ir<grouped>, {scopes::tensor({n}, x), scopes::output<int>({n}), scopes::output<int>({4})});
    Ints y(at(n)), sums(4);
    for (int first = 0; first < n; first += 8) {
      int own[8][3], shared[8];
      for (int t = 0; t < 8; ++t)
        for (int k = 0; k < 3; ++k) own[t][k] = x[at(first + t)] + k;
      for (int t = 0; t < 8; ++t) shared[t] = own[t][2];
      for (int t = 0; t < 8; ++t) own[t][t % 3] += shared[7 - t];
      for (int k = 0; k < 2; ++k) {
        for (int t = 0; t < 8; ++t) shared[t] = own[t][k] + 1;
        for (int t = 0; t < 8; ++t) own[t][k + 1] += shared[(t + 1) % 8];
      }
      for (int t = 0; t < 8; ++t) {
        y[at(first + t)] = own[t][0] + 10 * own[t][1] + 100 * own[t][2];
        sums[at(floormod(x[at(first + t)], 4))] += own[t][2];
      }
    }
    EXPECT_EQ(scopes::values<int>(r["y"]), y);
    EXPECT_EQ(scopes::values<int>(r["sums"]), sums);
  }
}

// Exchanges compare bits, in memory and in variables.
struct exchanged : program<exchanged> {
  in<f32, N> x, expected;
  inout<f32, N> memory;
  out<f32, N> variable;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto v = var<f32, 2>(0.0f);
      v(1) = x(i);
      v(1).atomic_compare_exchange(expected(i), 7.0f);
      variable(i) = v(1);
      memory(i).atomic_compare_exchange(expected(i), 7.0f);
    }
  }
};

TEST(Values, CompareExchangeComparesBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0f, -0.0f, nan, 1.0f, 2.0f}, expected = {-0.0f, -0.0f, nan, 1.0f, 3.0f};
  const std::vector<float> after = {0.0f, 7.0f, 7.0f, 7.0f, 2.0f};
  const auto r = scopes::run(ir<exchanged>, {scopes::tensor({5}, x), scopes::tensor({5}, expected), scopes::tensor({5}, x),
                                             scopes::output<float>({5})});
  EXPECT_EQ(scopes::values<float>(r["memory"]), after);
  EXPECT_EQ(scopes::values<float>(r["variable"]), after);
}

// In a kernel that writes a tensor, only its elements can be used.
template <bool Whole>
struct written : program<written<Whole>> {
  inout<f32, N> x;
  out<f32> first;
  constexpr void body() {
    first = 0;
    for (auto [i] : this->kernel(N)) {
      if (auto c = this->when(i == 0)) {
        first() = first + x(0);
        first() = first * 2;
      }
      if constexpr (Whole) x(i) = sum(x);
    }
  }
};

TEST(Values, OfATensorThatTheKernelWrites) {
  const auto r = scopes::run(ir<written<false>>, {scopes::tensor<float>({2}, {3, 4}), scopes::output<float>({})});
  EXPECT_EQ(scopes::values<float>(r["first"])[0], 6);
  const std::string error = scopes::compile_error(ir<written<true>>);
  EXPECT_NE(error.find("values_test.cpp"), error.npos) << error;
  EXPECT_NE(error.find("E-scope: expected elements of `x`, which this kernel writes, got all of it"), error.npos) << error;
}

// bool is both a dtype and a C++ type.
struct truths : program<truths> {
  in<i32, N> x;
  out<bool, N> any_above;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto found = var(false), none = var<bool>(true);
      for (auto k : loop(i + 1)) {
        found = found || x(k) > 10;
        none = none && x(k) <= 10;
      }
      any_above(i) = found && !none;
    }
  }
};

TEST(Values, VariablesOfBool) {
  const auto r = scopes::run(ir<truths>, {scopes::tensor<int>({4}, {1, 10, 11, 2}), scopes::output<bool>({4})});
  EXPECT_EQ(scopes::values<bool>(r["any_above"]), (std::vector<bool>{false, false, true, true}));
}

// More elements than the 32 accumulators of a sum along the last axis, so that each adds several.
template <int K>
struct many_components : program<many_components<K>> {
  in<f32, N> x;
  out<f32, N> total, product, least, greatest;
  constexpr void body() {
    for (auto [i] : this->kernel(N)) {
      auto v = iota<0, f32>(this->template full<f32, K>(0)) * x(i) + 1.0f;
      total(i) = sum(v);
      product(i) = prod(v);
      least(i) = min(v);
      greatest(i) = max(v);
    }
  }
};

template <int K>
void expect_many_components() {
  const std::vector<float> x{0.3f, -1.7f, 0.0f};
  const auto out = scopes::output<float>({3});
  const auto r = scopes::run(ir<many_components<K>>, {scopes::tensor({3}, x), out, out, out, out});
  for (std::size_t n = 0; n < x.size(); ++n) {
    float sums[32] = {}, products[32];
    std::ranges::fill(products, 1.0f);
    float low = 1, high = 1;
    for (int k = 0; k < K; ++k) {
      const float v = static_cast<float>(k) * x[n] + 1.0f;
      sums[k % 32] += v, products[k % 32] *= v;
      low = std::min(low, v), high = std::max(high, v);
    }
    for (int half = 16; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) sums[k] += sums[k + half], products[k] *= products[k + half];
    EXPECT_EQ(scopes::values<float>(r["total"])[n], sums[0]) << K;
    EXPECT_EQ(scopes::values<float>(r["product"])[n], products[0]) << K;
    EXPECT_EQ(scopes::values<float>(r["least"])[n], low) << K;
    EXPECT_EQ(scopes::values<float>(r["greatest"])[n], high) << K;
  }
}

TEST(Values, SumsOfAllSizesOfSmallTensors) {
  expect_many_components<31>();
  expect_many_components<32>();
  expect_many_components<33>();
  expect_many_components<40>();
  expect_many_components<64>();
}

}  // namespace

}  // namespace values_test
