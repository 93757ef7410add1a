// Elements of tensors: index modes with indices -5 .. n + 5, local arrays, atomics, compared with the same code in C++.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <limits>

#include "tests/run/scopes/run_scopes.h"

namespace elements_test {

using namespace kiln;
using kiln::dsl::mode;  // for functions; inside a program it is a member

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;

using i64s = std::int64_t;

// The index on an axis of extent n >= 1; -1: outside.
i64s resolved(mode m, i64s i, i64s n) {
  const auto mod = [](i64s a, i64s b) { return ((a % b) + b) % b; };
  switch (m) {
    case mode::clamp: return std::clamp<i64s>(i, 0, n - 1);
    case mode::wrap: return mod(i, n);
    case mode::mirror: return std::min(mod(i, 2 * n), 2 * n - 1 - mod(i, 2 * n));
    default: return i >= 0 && i < n ? i : -1;
  }
}

// The index itself, or an index with the same meaning in every mode on an axis of extent n.
template <class Cpp>
i64s in_i64(Cpp i, int n) {
  if constexpr (std::is_same_v<Cpp, std::uint64_t>)
    if (i >> 62 != 0) return static_cast<i64s>(1) * 2 * n + static_cast<i64s>(i % static_cast<Cpp>(2 * n));
  return static_cast<i64s>(i);
}

// Reads x at index[k], and writes k + 1 to the element of index[k] if no other k writes it.
template <class I>
struct modes : program<modes<I>> {
  in<i32, N> x;
  in<I, K> index;
  out<i32, K> clamped, wrapped, mirrored, constant, checked;
  out<i32, K, N> clamp_put, wrap_put, mirror_put, skip_put, skip_add;
  constexpr void body() {
    skip_add = 7;
    for (auto [k] : this->kernel(K)) {
      auto i = index(k);
      clamped(k) = x(i);
      wrapped(k) = x.template at<mode::wrap>(i);
      mirrored(k) = x.template at<mode::mirror>(i);
      constant(k) = x.template at<mode::constant>(i, 99);
      checked(k) = -1;
      if (auto inside = this->when(i >= 0 && i < cast<I>(x.template size<0>()))) checked(k) = x.template at<mode::unchecked>(i);
      clamp_put(k, i) = k + 1;
      wrap_put.template at<mode::wrap>(k, i) = k + 1;
      mirror_put.template at<mode::mirror>(k, i) = k + 1;
      skip_put.template at<mode::skip>(k, i) = k + 1;
      skip_add.template at<mode::skip>(k, i) += k + 1;
    }
  }
};

template <class I, class Cpp>
void check_modes(int n, std::vector<Cpp> index) {
  std::vector<int> x;
  for (int i = 0; i < n; ++i) x.push_back(10 + i);
  const auto count = static_cast<i64s>(index.size());
  std::vector<scopes::Array> arguments = {scopes::tensor({n}, x), scopes::tensor({count}, index)};
  for (int i = 0; i < 5; ++i) arguments.push_back(scopes::output<int>({count}));
  for (int i = 0; i < 5; ++i) arguments.push_back(scopes::output<int>({count, n}));
  const auto r = scopes::run(ir<modes<I>>, arguments);
  const struct {
    const char *read, *write;
    mode m;
    int outside;  // what a read outside of x gives
  } cases[] = {{.read = "clamped", .write = "clamp_put", .m = mode::clamp, .outside = 0},
               {.read = "wrapped", .write = "wrap_put", .m = mode::wrap, .outside = 0},
               {.read = "mirrored", .write = "mirror_put", .m = mode::mirror, .outside = 0},
               {.read = "constant", .write = "skip_put", .m = mode::skip, .outside = 99},
               {.read = "checked", .write = "skip_put", .m = mode::skip, .outside = -1}};
  for (const auto& c : cases) {
    const auto read = scopes::values<int>(r[c.read]), written = scopes::values<int>(r[c.write]);
    const auto added = scopes::values<int>(r["skip_add"]);
    for (i64s k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const i64s raw = in_i64(index[at], n), i = n == 0 ? -1 : resolved(c.m, raw, n);
      EXPECT_EQ(read[at], i < 0 ? c.outside : x[static_cast<std::size_t>(i)]) << c.read << ", index " << raw << " of " << n;
      for (i64s j = 0; j < n; ++j) {
        const auto element = static_cast<std::size_t>(k * n + j);
        EXPECT_EQ(written[element], j == i ? static_cast<int>(k) + 1 : 0) << c.write << ", index " << raw << " of " << n;
        EXPECT_EQ(added[element], j == resolved(mode::skip, raw, n) ? static_cast<int>(k) + 8 : 7);
      }
    }
  }
}

TEST(Elements, Modes) {
  for (const int n : {0, 1, 2, 3, 7}) {
    std::vector<int> i32s;
    std::vector<i64s> wide;
    std::vector<signed char> bytes;
    for (int i = -5; i <= n + 5; ++i) i32s.push_back(i), wide.push_back(i), bytes.push_back(static_cast<signed char>(i));
    for (const int i : {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) i32s.push_back(i), wide.push_back(i);
    check_modes<i32>(n, i32s);
    check_modes<i64>(n, wide);
    check_modes<i8>(n, bytes);
    check_modes<u8>(n, std::vector<unsigned char>{0, 1, 2, 6, 7, 255});
    check_modes<u32>(n, std::vector<unsigned>{0, 3, 0x80000000u, 0xffffffffu});
  }
}

// Indices beyond i64 are far outside.
TEST(Elements, UnsignedIndices) { check_modes<u64>(5, std::vector<std::uint64_t>{0, 4, 5, 1ull << 62, 1ull << 63, ~0ull}); }

// A stencil with neighbours on both axes, and a different mode for each axis.
struct stencil : program<stencil> {
  in<i32, N, M> x;
  out<i32, N, M> y;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M)) {
      auto total = x(i, j) + x(i - 1, j) + x.at<mode::wrap>(i + 1, j - 2) + x.at<mode::mirror>(i - 3, j + 4) +
                   x.at<mode::constant>(i + 1, j + 1, x(i, j) * 2);
      y(i, j) = total;
    }
  }
};

TEST(Elements, Stencil) {
  for (const auto& [n, m] : {std::pair{1, 1}, {2, 3}, {5, 4}, {0, 3}, {3, 0}}) {
    std::vector<int> x;
    for (int i = 0; i < n * m; ++i) x.push_back(i * i % 37);
    const auto r = scopes::run(ir<stencil>, {scopes::tensor({n, m}, x), scopes::output<int>({n, m})});
    const auto y = scopes::values<int>(r["y"]);
    const auto read = [&](mode a, i64s i, i64s j, int outside) {
      const i64s row = resolved(a, i, n), column = resolved(a, j, m);
      return row < 0 || column < 0 ? outside : x[static_cast<std::size_t>(row * m + column)];
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        const int here = x[static_cast<std::size_t>(i * m + j)];
        EXPECT_EQ(y[static_cast<std::size_t>(i * m + j)],
                  here + read(mode::clamp, i - 1, j, 0) + read(mode::wrap, i + 1, j - 2, 0) +
                      read(mode::mirror, i - 3, j + 4, 0) + read(mode::skip, i + 1, j + 1, here * 2))
            << i << " " << j;
      }
  }
}

// Local arrays: an insertion sort of a row, new zeros in each iteration, two dimensions.
struct locals : program<locals> {
  in<i32, N, 6> x;
  out<i32, N, 6> y;
  out<i32, N> zeros, diagonal;
  constexpr void body() {
    for (auto [r] : kernel(N)) {
      auto a = local<i32, 6>();
      for (auto i : loop(6)) {
        a(i) = x(r, i);
        for (auto j : loop(i, 0, -1)) {
          auto left = a(j - 1), right = a(j);
          break_if(left <= right);
          a(j) = left;
          a(j - 1) = right;
        }
      }
      for (auto i : loop(6)) y(r, i) = a(i);
      auto sum = var(0), trace = var(0);
      for (auto i : loop(4)) {
        auto fresh = local<i32, 3>();
        fresh(i) += 1;
        sum += fresh(0) + fresh(1) + fresh(2);
        auto square = local<i32, 3, 3>();
        for (auto k : loop(3)) square(k, k) = i + 1;
        trace += square(0, 0) + square(1, 1) + square(2, 2) + square(0, 1);
      }
      zeros(r) = sum;
      diagonal(r) = trace;
    }
  }
};

TEST(Elements, LocalArrays) {
  const int n = 7;
  std::vector<int> x;
  for (int i = 0; i < n * 6; ++i) x.push_back(i * 29 % 41 - 20);
  const auto r = scopes::run(
      ir<locals>, {scopes::tensor({n, 6}, x), scopes::output<int>({n, 6}), scopes::output<int>({n}), scopes::output<int>({n})});
  for (int i = 0; i < n; ++i) std::sort(x.begin() + i * 6, x.begin() + i * 6 + 6);
  EXPECT_EQ(scopes::values<int>(r["y"]), x);
  EXPECT_EQ(scopes::values<int>(r["zeros"]), std::vector<int>(static_cast<std::size_t>(n), 4));
  EXPECT_EQ(scopes::values<int>(r["diagonal"]), std::vector<int>(static_cast<std::size_t>(n), 3 * (1 + 2 + 3 + 4)));
}

// Every kind of atomic on every class of dtype. Old values are tested in kernels with one work item, where an order exists.
template <class D>
struct atomics : program<atomics<D>> {
  in<D, K> v;
  inout<D, 4> added, least, most, exchanged, compared;
  out<D, K> before;
  inout<D> total;
  constexpr void body() {
    for ([[maybe_unused]] auto [one] : this->kernel(1))
      for (auto k : this->loop(K)) {
        auto x = v(k);
        auto sum = this->template var<D>(0);
        sum += added(k % 4).atomic_add(x);
        sum += least(k % 4).atomic_min(x);
        sum += most(k % 4).atomic_max(x);
        sum += exchanged(k % 4).atomic_exchange(x);
        sum += compared(k % 4).atomic_compare_exchange(x, x + 1);
        total().atomic_add(x);
        before(k) = sum;
      }
  }
};

template <class D, class T>
void check_atomics() {
  std::vector<T> v, start{3, 5, 7, 2};
  for (int k = 0; k < 11; ++k) v.push_back(static_cast<T>(k * 7 % 9));
  std::vector<scopes::Array> arguments = {scopes::tensor({11}, v)};
  for (int i = 0; i < 5; ++i) arguments.push_back(scopes::tensor({4}, start));
  arguments.push_back(scopes::output<T>({11}));
  arguments.push_back(scopes::scalar(T{1}));
  const auto r = scopes::run(ir<atomics<D>>, arguments);
  std::vector<T> added = start, least = start, most = start, exchanged = start, compared = start, before;
  T total{1};
  for (std::size_t k = 0; k < 11; ++k) {
    const T x = v[k];
    T sum{};
    for (const auto* s : {&added, &least, &most, &exchanged, &compared}) sum = static_cast<T>(sum + (*s)[k % 4]);
    before.push_back(sum);
    added[k % 4] = static_cast<T>(added[k % 4] + x);
    least[k % 4] = std::min(least[k % 4], x);
    most[k % 4] = std::max(most[k % 4], x);
    exchanged[k % 4] = x;
    if (compared[k % 4] == x) compared[k % 4] = static_cast<T>(x + 1);
    total = static_cast<T>(total + x);
  }
  EXPECT_EQ(scopes::values<T>(r["added"]), added);
  EXPECT_EQ(scopes::values<T>(r["least"]), least);
  EXPECT_EQ(scopes::values<T>(r["most"]), most);
  EXPECT_EQ(scopes::values<T>(r["exchanged"]), exchanged);
  EXPECT_EQ(scopes::values<T>(r["compared"]), compared);
  EXPECT_EQ(scopes::values<T>(r["before"]), before);
  EXPECT_EQ(scopes::values<T>(r["total"])[0], total);
}

TEST(Elements, Atomics) {
  check_atomics<i8, signed char>();
  check_atomics<u16, unsigned short>();
  check_atomics<i32, int>();
  check_atomics<u64, std::uint64_t>();
  check_atomics<f32, float>();
  check_atomics<f64, double>();
}

// An element whose index comes from a scalar, so that all work items read the same one, inside a kernel and outside.
struct uniform : program<uniform> {
  in<i32, N> x;
  in<i32> k;
  out<i32, N> inside, outside;
  constexpr void body() {
    for (auto [i] : kernel(N)) inside(i) = x(k) + x.at<mode::wrap>(x(k) + 1);
    outside = x + x(k) * 2 - x(1);
  }
};

TEST(Elements, SameForAllWorkItems) {
  const std::vector<int> x = {4, 9, 2, 7, 5};
  for (const int k : {-3, 0, 3, 8}) {
    const auto r = scopes::run(ir<uniform>,
                               {scopes::tensor({5}, x), scopes::scalar(k), scopes::output<int>({5}), scopes::output<int>({5})});
    const int at = x[static_cast<std::size_t>(std::clamp(k, 0, 4))], next = x[static_cast<std::size_t>((at + 1) % 5)];
    EXPECT_EQ(scopes::values<int>(r["inside"]), std::vector<int>(5, at + next));
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(scopes::values<int>(r["outside"])[i], x[i] + at * 2 - x[1]);
  }
}

// Writes and atomics outside of kernels.
struct lone : program<lone> {
  inout<i32, N> x;
  inout<i32> total;
  in<i32> k;
  out<i32, 3> y;
  constexpr void body() {
    x(k) = 100;
    x.at<mode::skip>(k + 1) += x(k) + sum(x);
    auto old = x(2).atomic_max(50);
    total() += old;
    auto skipped = x.at<mode::skip>(k - 9).atomic_add(1);
    y(0) = old;
    y(1) = skipped;
    auto a = local<i32, 2>();
    a(1) = 8;
    y(2) = a(0) + a(1);
  }
};

TEST(Elements, OutsideOfKernels) {
  for (const int k : {0, 2, 4}) {
    std::vector<int> x = {4, 9, 2, 7, 5};
    const auto r =
        scopes::run(ir<lone>, {scopes::tensor({5}, x), scopes::scalar(30), scopes::scalar(k), scopes::output<int>({3})});
    const auto at = static_cast<std::size_t>(k);
    x[at] = 100;
    int sum = 100;
    for (const int v : x) sum += v;
    if (at + 1 < x.size()) x[at + 1] += sum;
    const int old = x[2];
    x[2] = std::max(x[2], 50);
    EXPECT_EQ(scopes::values<int>(r["x"]), x);
    EXPECT_EQ(scopes::values<int>(r["total"])[0], 30 + old);
    EXPECT_EQ(scopes::values<int>(r["y"]), (std::vector<int>{old, 0, 8}));
  }
}

// The right side of `+=` is evaluated before the element is read, on every compiler.
struct compound : program<compound> {
  inout<i32, 2> x;
  constexpr void body() {
    for ([[maybe_unused]] auto [one] : kernel(1)) x(0) += x(0).atomic_add(10) + x(1);
  }
};

TEST(Elements, CompoundAssignmentReadsLast) {
  const auto r = scopes::run(ir<compound>, {scopes::tensor({2}, std::vector<int>{1, 100})});
  EXPECT_EQ(scopes::values<int>(r["x"]), (std::vector<int>{11 + 1 + 100, 100}));
}

// All work items change one element by kinds whose result does not depend on the order. Skipped ones give 0.
struct scatter : program<scatter> {
  in<i32, N> where, what;
  inout<i32, 8> histogram, bits, either, one_of, least;
  inout<bool, 8> seen;
  out<i32, N> old;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto w = where(i), v = what(i);
      histogram.at<mode::wrap>(w).atomic_add(1);
      bits(w).atomic_and(v);
      either(w).atomic_or(v);
      one_of(w).atomic_xor(v);
      least.at<mode::mirror>(w).atomic_min(v);
      seen.at<mode::skip>(w).atomic_or(v > 50);
      old(i) = 0;
      if (auto outside = when(w < 0 || w > 7)) old(i) = histogram.at<mode::skip>(w).atomic_exchange(-1) + 5;
    }
  }
};

TEST(Elements, Scatter) {
  const int n = 40;
  std::vector<int> where, what, start(8, 63);
  for (int i = 0; i < n; ++i) where.push_back(i * 5 % 13 - 2), what.push_back(i * 37 % 101);
  std::vector<scopes::Array> arguments = {scopes::tensor({n}, where), scopes::tensor({n}, what)};
  for (int i = 0; i < 5; ++i) arguments.push_back(scopes::tensor({8}, start));
  arguments.push_back(scopes::tensor({8}, std::vector<bool>(8)));
  arguments.push_back(scopes::output<int>({n}));
  const auto r = scopes::run(ir<scatter>, arguments);
  std::vector<int> histogram = start, bits = start, either = start, one_of = start, least = start, old;
  std::vector<bool> seen(8);
  for (int i = 0; i < n; ++i) {
    const i64s w = where[static_cast<std::size_t>(i)];
    const int v = what[static_cast<std::size_t>(i)];
    const auto at = [&](mode m) { return static_cast<std::size_t>(resolved(m, w, 8)); };
    ++histogram[at(mode::wrap)];
    bits[at(mode::clamp)] &= v;
    either[at(mode::clamp)] |= v;
    one_of[at(mode::clamp)] ^= v;
    least[at(mode::mirror)] = std::min(least[at(mode::mirror)], v);
    if (w >= 0 && w < 8) seen[at(mode::clamp)] = seen[at(mode::clamp)] || v > 50;
    old.push_back(w < 0 || w > 7 ? 5 : 0);
  }
  EXPECT_EQ(scopes::values<int>(r["histogram"]), histogram);
  EXPECT_EQ(scopes::values<int>(r["bits"]), bits);
  EXPECT_EQ(scopes::values<int>(r["either"]), either);
  EXPECT_EQ(scopes::values<int>(r["one_of"]), one_of);
  EXPECT_EQ(scopes::values<int>(r["least"]), least);
  EXPECT_EQ(scopes::values<bool>(r["seen"]), seen);
  EXPECT_EQ(scopes::values<int>(r["old"]), old);
}

}  // namespace

}  // namespace elements_test
