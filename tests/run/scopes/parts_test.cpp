// t(i) where i is a tensor, or with fewer indices than axes: gathers, rows, scatters, outside of kernels and inside.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <array>

#include "compiler/ir/program.h"
#include "generator/import.h"
#include "tests/run/compiled.h"
#include "tests/run/scopes/run_scopes.h"

namespace parts_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;

using Ints = std::vector<int>;
using Floats = std::vector<float>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
Ints numbers(std::int64_t n, int scale, int modulus) {
  Ints out;
  for (int i = 0; i < n; ++i) out.push_back(i * scale % modulus);
  return out;
}
Floats floats(std::int64_t n, int scale, int modulus) {
  Floats out;
  for (const int i : numbers(n, scale, modulus)) out.push_back(static_cast<float>(i) * 0.37f);
  return out;
}
std::int64_t kernels(const dsl::record::program& p) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, p);
  return compiler::testing::CompiledProgram(g, program).description()->n_kernels;
}

struct lookup : program<lookup> {
  in<f32, N, 8> table;
  in<i32, M, K> token;
  in<f32, K, 8> position;
  out<f32, M, K, 8> y;
  constexpr void body() { y = table(token) * 2 + position; }
};

TEST(Parts, LookupIsOneKernel) {
  const int n = 5, m = 3, k = 4;
  const Ints token = {0, 4, 2, 1, 1, -3, 9, 0, 4, 4, 3, 2};
  const Floats table = floats(n * 8, 7, 31), position = floats(k * 8, 5, 23);
  const auto r = scopes::run(ir<lookup>, {scopes::tensor({n, 8}, table), scopes::tensor({m, k}, token),
                                          scopes::tensor({k, 8}, position), scopes::output<float>({m, k, 8})});
  const Floats y = scopes::values<float>(r["y"]);
  for (int i = 0; i < m * k * 8; ++i) {
    const int row = std::clamp(token[at(i / 8)], 0, n - 1);
    EXPECT_EQ(y[at(i)], table[at(row * 8 + i % 8)] * 2 + position[at(i % (k * 8))]);
  }
  EXPECT_EQ(kernels(ir<lookup>), 1);
}

// Indices broadcast against each other and against numbers. Modes. Empty tensors.
struct gathers : program<gathers> {
  in<i32, N, M> x;
  in<i64, K, 1> row;
  in<u8, 3> column;
  out<i32, K, 3> plain, wrapped, mirrored, constant;
  out<i32, K, M> rows;
  out<i32, M> last;
  out<i32, 3> second;
  constexpr void body() {
    plain = x(row, column);
    wrapped = x.at<mode::wrap>(row, column);
    mirrored = x.at<mode::mirror>(row, column);
    constant = x.at<mode::constant>(row, column, -7);
    rows = x.at<mode::constant>(reshape<K>(row), 5);
    last = x(100);
    second = x(1, column);
  }
};

int floormod(std::int64_t a, int n) { return static_cast<int>((a % n + n) % n); }
int mirrored(std::int64_t a, int n) { return std::min(floormod(a, 2 * n), 2 * n - 1 - floormod(a, 2 * n)); }

TEST(Parts, Modes) {
  const int n = 3, m = 4, k = 5;
  const std::vector<std::int64_t> row = {-5, 0, 2, 3, std::int64_t{1} << 40};
  const std::vector<std::uint8_t> column = {1, 3, 200};
  const Ints x = numbers(n * m, 7, 101);
  const auto r = scopes::run(ir<gathers>, {scopes::tensor({n, m}, x), scopes::tensor({k, 1}, row), scopes::tensor({3}, column),
                                           scopes::output<int>({k, 3}), scopes::output<int>({k, 3}),
                                           scopes::output<int>({k, 3}), scopes::output<int>({k, 3}),
                                           scopes::output<int>({k, m}), scopes::output<int>({m}), scopes::output<int>({3})});
  const auto get = [&](const char* output, int i) { return scopes::values<int>(r[output])[at(i)]; };
  const auto clamped = [](std::int64_t i, int extent) { return static_cast<int>(std::clamp<std::int64_t>(i, 0, extent - 1)); };
  for (int i = 0; i < k; ++i) {
    const std::int64_t a = row[at(i)];
    for (int j = 0; j < 3; ++j) {
      const int b = column[at(j)];
      const bool inside = a >= 0 && a < n && b < m;
      EXPECT_EQ(get("plain", i * 3 + j), x[at(clamped(a, n) * m + clamped(b, m))]);
      EXPECT_EQ(get("wrapped", i * 3 + j), x[at(floormod(a, n) * m + floormod(b, m))]);
      EXPECT_EQ(get("mirrored", i * 3 + j), x[at(mirrored(a, n) * m + mirrored(b, m))]);
      EXPECT_EQ(get("constant", i * 3 + j), inside ? x[at(static_cast<int>(a) * m + b)] : -7);
    }
    for (int j = 0; j < m; ++j) EXPECT_EQ(get("rows", i * m + j), a >= 0 && a < n ? x[at(static_cast<int>(a) * m + j)] : 5);
  }
  for (int j = 0; j < m; ++j) EXPECT_EQ(get("last", j), x[at((n - 1) * m + j)]);
  for (int j = 0; j < 3; ++j) EXPECT_EQ(get("second", j), x[at(m + clamped(column[at(j)], m))]);
  const auto none =
      scopes::run(ir<gathers>, {scopes::tensor<int>({0, m}, {}), scopes::tensor({k, 1}, row), scopes::tensor({3}, column),
                                scopes::output<int>({k, 3}), scopes::output<int>({k, 3}), scopes::output<int>({k, 3}),
                                scopes::output<int>({k, 3}), scopes::output<int>({k, m}), scopes::output<int>({m}),
                                scopes::output<int>({3})});
  EXPECT_EQ(scopes::values<int>(none["plain"]), Ints(at(k * 3), 0));
  EXPECT_EQ(scopes::values<int>(none["constant"]), Ints(at(k * 3), -7));
}

// u64 indices, also beyond the range of i64, in three modes.
struct wide_indices : program<wide_indices> {
  in<i32, N> x;
  in<u64, K> i;
  out<i32, K> nearest, wrapped, constant;
  constexpr void body() {
    nearest = x(i);
    wrapped = x.at<mode::wrap>(i);
    constant = x.at<mode::constant>(i, -1);
  }
};

TEST(Parts, IndicesOfU64) {
  const std::vector<std::uint64_t> i = {0, 2, 3, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  const auto r = scopes::run(ir<wide_indices>, {scopes::tensor<int>({3}, {10, 20, 30}), scopes::tensor({5}, i),
                                                scopes::output<int>({5}), scopes::output<int>({5}), scopes::output<int>({5})});
  EXPECT_EQ(scopes::values<int>(r["nearest"]), (Ints{10, 30, 30, 30, 30}));
  EXPECT_EQ(scopes::values<int>(r["wrapped"]), (Ints{10, 30, 10, 10, 30}));
  EXPECT_EQ(scopes::values<int>(r["constant"]), (Ints{10, 30, -1, -1, -1}));
}

// Elements that are named twice: the last write stays, and sums count all, in the order of the indices.
struct scatters : program<scatters> {
  in<i32, K> i;
  in<f32, K> v;
  in<i32, K> n;
  inout<f32, N> last, sum, scaled;
  inout<i32, N> count, bits, most, less;
  out<i32, K> before;
  constexpr void body() {
    last(i) = v;
    sum(i) += v;
    scaled(i) *= v;
    scaled(i) /= 3;
    count(i) += 1;
    bits(i) |= n;
    less.at<mode::skip>(i) -= n;
    before = most(i).atomic_max(n);
  }
};

TEST(Parts, ScattersAreInOrder) {
  const Ints i = {1, 0, 1, 3, 3, 1, 9, -2};
  const Ints n = {4, 1, 2, 8, 16, 32, 64, 128};
  const Floats v = {0.1f, 0.2f, 1e8f, 3.0f, -1e8f, 0.7f, 0.9f, 1.1f};
  const int size = 4, k = 8;
  const Floats start = {1, 2, 3, 4};
  const Ints zero(4, 0);
  const auto r =
      scopes::run(ir<scatters>, {scopes::tensor({k}, i), scopes::tensor({k}, v), scopes::tensor({k}, n),
                                 scopes::tensor({size}, start), scopes::tensor({size}, start), scopes::tensor({size}, start),
                                 scopes::tensor({size}, zero), scopes::tensor({size}, zero), scopes::tensor({size}, zero),
                                 scopes::tensor({size}, zero), scopes::output<int>({k})});
  Floats last = start, sum = start, scaled = start;
  Ints count = zero, bits = zero, most = zero, less = zero, before;
  for (int j = 0; j < k; ++j) {
    const std::size_t e = at(std::clamp(i[at(j)], 0, size - 1));
    last[e] = v[at(j)];
    sum[e] += v[at(j)];
    scaled[e] *= v[at(j)];
    ++count[e];
    bits[e] |= n[at(j)];
    if (i[at(j)] >= 0 && i[at(j)] < size) less[e] -= n[at(j)];
    before.push_back(most[e]);
    most[e] = std::max(most[e], n[at(j)]);
  }
  for (int j = 0; j < k; ++j) scaled[at(std::clamp(i[at(j)], 0, size - 1))] /= 3;
  EXPECT_EQ(scopes::values<float>(r["last"]), last);
  EXPECT_EQ(scopes::values<float>(r["sum"]), sum);
  EXPECT_EQ(scopes::values<float>(r["scaled"]), scaled);
  EXPECT_EQ(scopes::values<int>(r["count"]), count);
  EXPECT_EQ(scopes::values<int>(r["bits"]), bits);
  EXPECT_EQ(scopes::values<int>(r["most"]), most);
  EXPECT_EQ(scopes::values<int>(r["less"]), less);
  EXPECT_EQ(scopes::values<int>(r["before"]), before);
}

// Rows of a matrix, read and written, in loops and under conditions. A read gives the last written row.
struct rows : program<rows> {
  in<i32, K> to, from;
  inout<i32, N, M> x;
  inout<i32, N, M> y;
  constexpr void body() {
    x(to) = x(from);
    x(1) = 5;
    x(0) += x(2);
    for (auto iteration : loop(3)) {
      y(to) += x(from) * iteration;
      if (auto c = when(iteration == 1)) y(iteration) = x(iteration);
      y(iteration, to) -= 1;
    }
  }
};

TEST(Parts, Rows) {
  const int n = 4, m = 3, k = 2;
  const Ints to = {2, 0}, from = {3, 2};
  Ints x = numbers(n * m, 5, 37), y = numbers(n * m, 3, 29);
  const auto r = scopes::run(
      ir<rows>, {scopes::tensor({k}, to), scopes::tensor({k}, from), scopes::tensor({n, m}, x), scopes::tensor({n, m}, y)});
  const Ints old = x;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < k; ++i) x[at(to[at(i)] * m + j)] = old[at(from[at(i)] * m + j)];
  for (int j = 0; j < m; ++j) x[at(m + j)] = 5;
  for (int j = 0; j < m; ++j) x[at(j)] += x[at(2 * m + j)];
  for (int t = 0; t < 3; ++t) {
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < m; ++j) y[at(to[at(i)] * m + j)] += x[at(from[at(i)] * m + j)] * t;
    for (int j = 0; t == 1 && j < m; ++j) y[at(t * m + j)] = x[at(t * m + j)];
    for (int i = 0; i < k; ++i) y[at(t * m + to[at(i)])] -= 1;
  }
  EXPECT_EQ(scopes::values<int>(r["x"]), x);
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
}

// A statement's reads give the values before it, whatever it writes, also in loops and under conditions.
struct in_place : program<in_place> {
  in<i32, N> next;
  inout<i32, N> x, y;
  inout<i32, N, 2> pairs;
  in<i32> limit;
  constexpr void body() {
    x = x(next);
    for (auto iteration : loop(3)) {
      y = y(next) + iteration;
      break_if(y(0) > limit);
      pairs(next) = pairs * 2;
      if (auto c = when(sum(y(next)) > limit)) pairs(next, 1) += y;
    }
    pairs(next, next) *= 3;
  }
};

void expect_in_place(const Ints& next, int limit) {
  const auto n = static_cast<int>(next.size());
  Ints x = numbers(n, 5, 37), y = numbers(n, 3, 29), pairs = numbers(2 * n, 7, 23);
  const auto r = scopes::run(ir<in_place>, {scopes::tensor({n}, next), scopes::tensor({n}, x), scopes::tensor({n}, y),
                                            scopes::tensor({n, 2}, pairs), scopes::scalar(limit)});
  const auto gathered = [&](const Ints& from) {
    Ints out;
    for (const int i : next) out.push_back(from[at(i)]);
    return out;
  };
  x = gathered(x);
  for (int iteration = 0; iteration < 3; ++iteration) {
    y = gathered(y);
    for (int& v : y) v += iteration;
    if (y[0] > limit) break;
    const Ints old = pairs;
    for (int i = 0; i < n; ++i)
      for (int d = 0; d < 2; ++d) pairs[at(next[at(i)] * 2 + d)] = old[at(i * 2 + d)] * 2;
    int total = 0;
    for (const int v : gathered(y)) total += v;
    for (int i = 0; total > limit && i < n; ++i) pairs[at(next[at(i)] * 2 + 1)] += y[at(i)];
  }
  for (const int i : next) pairs[at(i * 2 + std::min(i, 1))] *= 3;
  EXPECT_EQ(scopes::values<int>(r["x"]), x);
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
  EXPECT_EQ(scopes::values<int>(r["pairs"]), pairs);
}

TEST(Parts, InPlace) {
  for (const int limit : {0, 15, 60, 1000}) {
    expect_in_place({2, 0, 1, 1, 3}, limit);
    expect_in_place({4, 3, 2, 1, 0}, limit);
    expect_in_place({0}, limit);
  }
}

// Values also have elements: computed tensors, variables, small vectors in kernels.
struct of_values : program<of_values> {
  in<f32, N, 4> table;
  in<i32, M> row;
  out<f32, M, 4> y;
  out<f32, M> z;
  out<f32, N> w;
  out<f32> one;
  constexpr void body() {
    auto twice = table * 2;
    y = twice(row) + 1;
    auto sums = var(sum<1>(table));
    sums += 3;
    z = sums.at<mode::wrap>(row);
    one = twice(1, 3);
    for (auto [i] : kernel(N)) {
      auto v = table(i) * 3;
      w(i) = v(2) + v.at<mode::mirror>(i) + twice(i, 1);
    }
  }
};

TEST(Parts, OfValues) {
  const int n = 3, m = 5;
  const Floats table = floats(n * 4, 7, 31);
  const Ints row = {2, 0, -4, 7, 1};
  const auto r =
      scopes::run(ir<of_values>, {scopes::tensor({n, 4}, table), scopes::tensor({m}, row), scopes::output<float>({m, 4}),
                                  scopes::output<float>({m}), scopes::output<float>({n}), scopes::output<float>({})});
  for (int i = 0; i < m; ++i) {
    for (int d = 0; d < 4; ++d)
      EXPECT_EQ(scopes::values<float>(r["y"])[at(i * 4 + d)], table[at(std::clamp(row[at(i)], 0, n - 1) * 4 + d)] * 2 + 1);
    float sum = 0;
    for (int d = 0; d < 4; ++d) sum += table[at(floormod(row[at(i)], n) * 4 + d)];
    EXPECT_FLOAT_EQ(scopes::values<float>(r["z"])[at(i)], sum + 3);
  }
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(scopes::values<float>(r["w"])[at(i)],
              table[at(i * 4 + 2)] * 3 + table[at(i * 4 + mirrored(i, 4))] * 3 + table[at(i * 4 + 1)] * 2);
  EXPECT_EQ(scopes::values<float>(r["one"])[0], table[7] * 2);
}

// Inside a kernel, the axes without an index form a small vector.
struct bodies : program<bodies> {
  inout<f32, N, 3> position, velocity;
  in<i32, 2> axes;
  inout<i32, 4> hits;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto p = position(i);
      auto v = velocity(i) - p * 0.5f;
      velocity(i) = v;
      position(i) += v * 0.25f;
      velocity(i, axes) *= 2;
      if (auto c = when(position(i, 0) > 1)) hits(axes).atomic_add(1);
    }
  }
};

TEST(Parts, SmallVectorsInKernels) {
  const int n = 6;
  Floats p = floats(n * 3, 7, 19), v = floats(n * 3, 5, 17);
  const Ints axes = {2, 2};
  const auto r = scopes::run(ir<bodies>, {scopes::tensor({n, 3}, p), scopes::tensor({n, 3}, v), scopes::tensor({2}, axes),
                                          scopes::tensor<int>({4}, {0, 0, 0, 0})});
  int hits = 0;
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) {
      v[at(i * 3 + d)] = v[at(i * 3 + d)] - p[at(i * 3 + d)] * 0.5f;
      p[at(i * 3 + d)] += v[at(i * 3 + d)] * 0.25f;
    }
    v[at(i * 3 + 2)] *= 4;
    hits += p[at(i * 3)] > 1 ? 2 : 0;
  }
  EXPECT_EQ(scopes::values<float>(r["position"]), p);
  EXPECT_EQ(scopes::values<float>(r["velocity"]), v);
  EXPECT_EQ(scopes::values<int>(r["hits"]), (Ints{0, 0, hits, 0}));
}

}  // namespace

}  // namespace parts_test
