// Extents that are declared multiples: quotients of them are exact, so their sums and products are the extent again.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace multiples_test {

using namespace kiln;

namespace {

inline constexpr dim<"E", facts{.multiple_of = 8}> E;
inline constexpr dim<"F", facts{.multiple_of = 6}> F;
inline constexpr dim<"M"> M;

using Ints = std::vector<int>;

Ints numbers(std::int64_t n) {
  Ints out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<int>(i * 37 % 101));
  return out;
}

struct halves : program<halves> {  // the parts of an extent are joined to the extent again
  in<i32, E> x;
  out<i32, E> swapped, rows, both;
  out<i32, E + E / 2> longer;
  out<i32, E / 8> sums;
  constexpr void body() {
    auto [a, b] = split<0, 2>(x);
    swapped = concat<0>(b, a);
    rows = flatten(permute<1, 0>(reshape<-1, 8>(x)));
    both = concat<0>(slice<0, 0, E / 4>(x), slice<0, E / 4>(x));
    longer = concat<0>(x, a) + concat<0>(b, b, a);
    sums = sum<1>(reshape<E / 8, 8>(x));
  }
};

TEST(Multiples, HalvesAndRows) {
  for (const int n : {0, 8, 16, 40}) {
    const Ints x = numbers(n);
    const auto at = [&](int i) { return x[static_cast<std::size_t>(i)]; };
    Ints swapped, rows, longer, sums;
    const int half = n / 2, eighth = n / 8;
    for (int i = 0; i < n; ++i) swapped.push_back(at((i + half) % n));
    for (int i = 0; i < n; ++i) rows.push_back(at(i % eighth * 8 + i / eighth));
    for (int i = 0; i < n + half; ++i) longer.push_back(at(i % n) + at(i < n ? half + i % half : i - n));
    for (int i = 0; i < eighth; ++i) {
      sums.push_back(0);
      for (int k = 0; k < 8; ++k) sums.back() += at(8 * i + k);
    }
    const auto out = scopes::output<int>({n});
    const auto got = scopes::run(
        ir<halves>, {scopes::tensor({n}, x), out, out, out, scopes::output<int>({n + half}), scopes::output<int>({eighth})});
    EXPECT_EQ(scopes::values<int>(got["swapped"]), swapped);
    EXPECT_EQ(scopes::values<int>(got["rows"]), rows);
    EXPECT_EQ(scopes::values<int>(got["both"]), x);
    EXPECT_EQ(scopes::values<int>(got["longer"]), longer);
    EXPECT_EQ(scopes::values<int>(got["sums"]), sums);
  }
}

struct pooled : program<pooled> {  // two symbols with facts, one without, in one shape
  in<i32, M, E, F> x;
  out<i32, M, E / 2, F / 2> half;
  out<i32, M, E / 4, F / 2> quarter;
  out<i32, M, E, F> again, tiled;
  out<i32, M * E / 2, 2, F> flat;
  constexpr void body() {
    half = squeeze<0>(max_pool2d<pool{.kernel = 2}>(unsqueeze<0>(x)));
    quarter = max<2>(reshape<M, E / 4, 2, F / 2>(half));
    again = repeat<1, 2>(repeat<2, 2>(half));
    tiled = concat<1>(slice<1, 0, E / 8 * 2>(x), slice<2, F / 3 * 2, F / 3 * 5>(slice<1, E / 4>(concat<2>(x, x))));
    flat = reshape<M * E / 2, 2, F>(x);
  }
};

TEST(Multiples, Pools) {
  for (const auto [m, e, f] : {std::array{0, 8, 6}, std::array{1, 0, 6}, std::array{2, 8, 12}, std::array{3, 24, 6}}) {
    const Ints x = numbers(static_cast<std::int64_t>(m) * e * f);
    const auto at = [&](int i, int j, int k) { return x[static_cast<std::size_t>((i * e + j) * f + k)]; };
    Ints half, quarter, again, tiled;
    const auto pool = [&](int i, int j, int k) {
      return std::max({at(i, 2 * j, 2 * k), at(i, 2 * j + 1, 2 * k), at(i, 2 * j, 2 * k + 1), at(i, 2 * j + 1, 2 * k + 1)});
    };
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < e / 2; ++j)
        for (int k = 0; k < f / 2; ++k) half.push_back(pool(i, j, k));
      for (int j = 0; j < e / 4; ++j)
        for (int k = 0; k < f / 2; ++k) quarter.push_back(std::max(pool(i, 2 * j, k), pool(i, 2 * j + 1, k)));
      for (int j = 0; j < e; ++j)
        for (int k = 0; k < f; ++k) {
          again.push_back(pool(i, j / 2, k / 2));
          tiled.push_back(j < e / 4 ? at(i, j, k) : at(i, j, (k + f / 3 * 2) % f));
        }
    }
    const auto got = scopes::run(ir<pooled>, {scopes::tensor({m, e, f}, x), scopes::output<int>({m, e / 2, f / 2}),
                                              scopes::output<int>({m, e / 4, f / 2}), scopes::output<int>({m, e, f}),
                                              scopes::output<int>({m, e, f}), scopes::output<int>({m * e / 2, 2, f})});
    EXPECT_EQ(scopes::values<int>(got["half"]), half);
    EXPECT_EQ(scopes::values<int>(got["quarter"]), quarter);
    EXPECT_EQ(scopes::values<int>(got["again"]), again);
    EXPECT_EQ(scopes::values<int>(got["tiled"]), tiled);
    EXPECT_EQ(scopes::values<int>(got["flat"]), x);
  }
}

inline constexpr dim<"G", facts{.min = 8, .multiple_of = 8}> G;
inline constexpr dim<"N"> N;

// Bounds that hold because a part of G is at least 1. The part may belong to either symbol: (G / 8) * E is G * (E / 8).
struct at_least_one : program<at_least_one> {
  in<i32, G> g;
  in<i32, G / 8, E> x;
  in<i32, N> n;
  in<i32, N, E, G> z;
  out<i32, E> first;
  out<i32, 1> one;
  out<i32, 8, N * G * E / 8> flat;
  out<i32, 16, N * G * E / 16> parts;
  constexpr void body() {
    first = slice<0, 0, E>(flatten(x)) + x.size<0>();
    one = slice<0, 0, 1>(concat<0>(n, g, slice<0, 0, G / 8>(g)));
    flat = reshape<8, -1>(z);
    parts = reshape<16, -1>(z);
  }
};

TEST(Multiples, BoundsOfParts) {
  for (const auto [e, g, n] : {std::array{0, 8, 0}, std::array{8, 24, 3}, std::array{16, 16, 1}}) {
    const Ints x = numbers(static_cast<std::int64_t>(g) / 8 * e), of_g = numbers(g), of_n(static_cast<std::size_t>(n), 5);
    const Ints z = numbers(static_cast<std::int64_t>(n) * e * g);
    const auto got =
        scopes::run(ir<at_least_one>, {scopes::tensor({g}, of_g), scopes::tensor({g / 8, e}, x), scopes::tensor({n}, of_n),
                                       scopes::tensor({n, e, g}, z), scopes::output<int>({e}), scopes::output<int>({1}),
                                       scopes::output<int>({8, n * g * e / 8}), scopes::output<int>({16, n * g * e / 16})});
    Ints first(x.begin(), x.begin() + e);
    for (int& v : first) v += g / 8;
    EXPECT_EQ(scopes::values<int>(got["first"]), first);
    EXPECT_EQ(scopes::values<int>(got["one"]), Ints{n > 0 ? 5 : 0});
    EXPECT_EQ(scopes::values<int>(got["flat"]), z);
    EXPECT_EQ(scopes::values<int>(got["parts"]), z);
  }
}

}  // namespace

}  // namespace multiples_test
