// Atomic operations on elements that stay the same along an axis or in a loop become sums with the same bits.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/program.h"
#include "tests/run/scopes/run_scopes.h"

namespace sum_atomics_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

using Ints = std::vector<int>;
using Floats = std::vector<float>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Every kernel adds to elements that do not depend on one of its axes, or on a loop.
struct columns : program<columns> {
  in<f32, N, M> x;
  in<i32, N, M> k;
  in<i32, M> bin;
  inout<f32, M> sum, largest;
  inout<f32, N> rows;
  inout<i32, M> positive, bits;
  inout<i32, 4> bins;
  inout<i32> count;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) {
      sum(j).atomic_add(x(i, j));
      largest(j).atomic_max(x(i, j));
    }
    for (auto [i, j] : kernel(N, M)) rows(i).atomic_add(x(i, j) * 2);
    for (auto [i, j] : kernel(N, M))
      if (auto c = when(k(i, j) > 0)) positive(j).atomic_add(k(i, j));
    for (auto [i, j] : kernel(N, M)) bins(bin(j)).atomic_add(k(i, j));
    for (auto [i, j] : kernel(N, M)) count().atomic_add(1);
    for (auto [j] : kernel(M))
      for (auto i : loop(N)) {
        break_if(k(i, j) == 13);
        bits(j).atomic_xor(k(i, j));
      }
  }
};

void expect_columns(int n, int m) {
  Floats x;
  Ints k, bin;
  for (int i = 0; i < n * m; ++i) {
    x.push_back(std::ldexp(static_cast<float>(i * 7 % 31) - 11.3f, i % 40));
    k.push_back(i * 5 % 17 - 3);
  }
  for (int j = 0; j < m; ++j) bin.push_back(j * 3 % 7 - 1);
  Floats sum(at(m), 0.5f), largest(at(m), -1.0f), rows(at(n), 0.25f);
  Ints positive(at(m), 1), bits(at(m), 2), bins(4, 3);
  int count = 5;
  const auto r = scopes::run(
      ir<columns>, {scopes::tensor({n, m}, x), scopes::tensor({n, m}, k), scopes::tensor({m}, bin), scopes::tensor({m}, sum),
                    scopes::tensor({m}, largest), scopes::tensor({n}, rows), scopes::tensor({m}, positive),
                    scopes::tensor({m}, bits), scopes::tensor({4}, bins), scopes::scalar(count)});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      const float v = x[at(i * m + j)];
      const int w = k[at(i * m + j)];
      sum[at(j)] += v;
      largest[at(j)] = std::max(largest[at(j)], v);
      rows[at(i)] += v * 2;
      positive[at(j)] += std::max(w, 0);
      bins[at(std::clamp(bin[at(j)], 0, 3))] += w;
      ++count;
    }
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n && k[at(i * m + j)] != 13; ++i) bits[at(j)] ^= k[at(i * m + j)];
  EXPECT_EQ(scopes::values<float>(r["sum"]), sum);
  EXPECT_EQ(scopes::values<float>(r["largest"]), largest);
  EXPECT_EQ(scopes::values<float>(r["rows"]), rows);
  EXPECT_EQ(scopes::values<int>(r["positive"]), positive);
  EXPECT_EQ(scopes::values<int>(r["bits"]), bits);
  EXPECT_EQ(scopes::values<int>(r["bins"]), bins);
  EXPECT_EQ(scopes::values<int>(r["count"])[0], count);
}

// Each work item has its own local array, also along an axis that a sum could run over.
struct with_locals : program<with_locals> {
  in<i32, N, M> x;
  inout<i32, N> sum;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) {
      auto a = local<i32, 3>();
      a(x(i, j)) += 1;
      sum(i).atomic_add(a(1) * 2 + a(2));
    }
  }
};

TEST(SumAtomics, LocalArrays) {
  const auto r =
      scopes::run(ir<with_locals>, {scopes::tensor<int>({2, 4}, {0, 1, 2, 1, 2, 2, 2, 0}), scopes::tensor<int>({2}, {10, 20})});
  EXPECT_EQ(scopes::values<int>(r["sum"]), (Ints{15, 23}));
}

// Floats are added one by one to the old value: 1e8 does not change by adding ones, but their own sum would be 64.
struct ones : program<ones> {
  in<f32, N> x;
  inout<f32, 2> sum;
  constexpr void body() {
    for (auto [i] : kernel(3))
      for (auto k : loop(N)) sum(i / 2).atomic_add(x(k));
  }
};

TEST(SumAtomics, FloatsInALoop) {
  const auto r =
      scopes::run(ir<ones>, {scopes::tensor({64}, std::vector<float>(64, 1.0f)), scopes::tensor<float>({2}, {1e8f, 0})});
  EXPECT_EQ(scopes::values<float>(r["sum"]), (std::vector<float>{1e8f, 64}));
}

TEST(SumAtomics, SameBits) {
  expect_columns(13, 37);
  expect_columns(64, 1);
  expect_columns(1, 5);
  expect_columns(0, 3);
  expect_columns(3, 0);
}

// All work items change one element, so the kernel is a reduction. So are loops outside of kernels that only combine values.
struct to_one_element : program<to_one_element> {
  in<u8, N> t;
  in<f32, N> x;
  inout<i32> starts, total;
  inout<f32> least, greatest;
  inout<bool> some;
  out<i32> sum;
  out<f32> most;
  constexpr void body() {
    for (auto [i] : kernel(N))
      if (auto c = when((t(i) & 0xC0) != 0x80)) starts().atomic_add(1);
    for (auto [i] : kernel(N)) {
      total().atomic_add(cast<i32>(t(i)) * 16777259);
      least().atomic_min(x(i));
      if (auto c = when(t(i) > 7)) greatest().atomic_max(x(i) * 2);
      some().atomic_or(t(i) == 77);
    }
    auto s = var(3);
    auto m = var(-1.5f);
    for (auto i : loop(N)) {
      if (auto c = when(x(i) > 0)) s += cast<i32>(t(i)) - 9;
      m = max(m, x(i) - 4.0f);
    }
    sum = s;
    most = m;
  }
};
TEST(SumAtomics, AllWorkItemsToOneElement) {
  for (const int n : {0, 1, 5, 31, 32, 33, 200, 5000}) {
    std::vector<std::uint8_t> t;
    Floats x;
    for (int i = 0; i < n; ++i) {
      t.push_back(static_cast<std::uint8_t>(i * 89 % 251));
      x.push_back(static_cast<float>(i * 53 % 97) - 60);
    }
    std::int32_t starts = 5, total = -2, sum = 3;
    std::uint32_t wrapped = static_cast<std::uint32_t>(total);
    float least = 1, greatest = 2, most = -1.5f;
    bool some = false;
    for (int i = 0; i < n; ++i) {
      starts += (t[at(i)] & 0xC0) != 0x80;
      wrapped += t[at(i)] * 16777259u;
      least = std::min(least, x[at(i)]);
      if (t[at(i)] > 7) greatest = std::max(greatest, x[at(i)] * 2);
      some = some || t[at(i)] == 77;
      if (x[at(i)] > 0) sum += t[at(i)] - 9;
      most = std::max(most, x[at(i)] - 4);
    }
    total = static_cast<std::int32_t>(wrapped);
    const auto r = scopes::run(
        ir<to_one_element>, {scopes::tensor({n}, t), scopes::tensor({n}, x), scopes::tensor({}, Ints{5}),
                             scopes::tensor({}, Ints{-2}), scopes::tensor({}, Floats{1}), scopes::tensor({}, Floats{2}),
                             scopes::tensor({}, std::vector<bool>{false}), scopes::output<int>({}), scopes::output<float>({})});
    EXPECT_EQ(scopes::values<int>(r["starts"]), Ints{starts}) << n;
    EXPECT_EQ(scopes::values<int>(r["total"]), Ints{total}) << n;
    EXPECT_EQ(scopes::values<float>(r["least"]), Floats{least}) << n;
    EXPECT_EQ(scopes::values<float>(r["greatest"]), Floats{greatest}) << n;
    EXPECT_EQ(scopes::values<int>(r["sum"]), Ints{sum}) << n;
    EXPECT_EQ(scopes::values<float>(r["most"]), Floats{most}) << n;
    EXPECT_EQ(scopes::values<bool>(r["some"]), std::vector<bool>{some}) << n;
  }
}

}  // namespace

}  // namespace sum_atomics_test
