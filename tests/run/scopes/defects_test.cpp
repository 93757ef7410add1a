// Mistakes of other tensor compilers, one test each. tests/conformance/features.md lists them.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <numeric>

#include "tests/run/scopes/run_scopes.h"

namespace defects_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

// The identity of a part of a long reduction must not count as an element.
struct extrema : program<extrema> {
  in<f32, 3, N> x;
  out<f32, 3> most, least;
  out<f32> most_of_all, least_of_all;
  constexpr void body() {
    most = max<1>(x);
    least = min<1>(x);
    most_of_all = max(x);
    least_of_all = min(x);
  }
};

TEST(Defects, ExtremaOfLongAxes) {
  for (const int n : {1, 7, 127, 1023, 1024, 1025, 1100, 5000, 70001})
    for (const float sign : {-1.0f, 1.0f}) {
      std::vector<float> x;
      for (int i = 0; i < 3 * n; ++i) x.push_back(sign * static_cast<float>(1 + i * 31 % 4093));
      const auto r =
          scopes::run(ir<extrema>, {scopes::tensor({3, n}, x), scopes::output<float>({3}), scopes::output<float>({3}),
                                    scopes::output<float>({}), scopes::output<float>({})});
      for (int row = 0; row < 3; ++row) {
        const auto [least, most] = std::minmax_element(x.begin() + row * n, x.begin() + (row + 1) * n);
        EXPECT_EQ(scopes::values<float>(r["most"])[static_cast<std::size_t>(row)], *most) << n;
        EXPECT_EQ(scopes::values<float>(r["least"])[static_cast<std::size_t>(row)], *least) << n;
      }
      EXPECT_EQ(scopes::values<float>(r["most_of_all"])[0], *std::ranges::max_element(x));
      EXPECT_EQ(scopes::values<float>(r["least_of_all"])[0], *std::ranges::min_element(x));
    }
}

// All work items change three elements. The results do not depend on any order.
template <class D>
struct contention : program<contention<D>> {
  in<D, N> x;
  inout<D, 3> added, least, most;
  out<i64> tickets;
  inout<i32> counter;
  constexpr void body() {
    tickets = 0;
    for (auto [i] : this->kernel(N)) {
      added(i % 3).atomic_add(x(i));
      least(i % 3).atomic_min(x(i));
      most(i % 3).atomic_max(x(i));
      auto ticket = counter().atomic_add(1);
      tickets().atomic_add(cast<i64>(ticket));
    }
  }
};
// The same without tickets, whose order requires a kernel on one thread.
template <class D>
struct extreme_contention : program<extreme_contention<D>> {
  in<D, N> x;
  inout<D, 3> added, least, most;
  constexpr void body() {
    for (auto [i] : this->kernel(N)) {
      added(i % 3).atomic_add(x(i));
      least(i % 3).atomic_min(x(i));
      most(i % 3).atomic_max(x(i));
    }
  }
};
template <class D>
struct bit_contention : program<bit_contention<D>> {
  in<D, N> x;
  inout<D, 3> both, either, odd;
  constexpr void body() {
    for (auto [i] : this->kernel(N)) {
      both(i % 3).atomic_and(x(i));
      either(i % 3).atomic_or(x(i));
      odd(i % 3).atomic_xor(x(i));
    }
  }
};

constexpr int many = 6000;

// Values on both sides of 0, or of the middle of an unsigned type.
template <class D, class T>
void check_contention() {
  std::vector<T> x;
  for (int i = 0; i < many; ++i) x.push_back(static_cast<T>(i % 2 == 0 ? i * 37 % 101 : -(i * 37 % 101)));
  const std::vector<T> start(3, T{50});
  const auto r =
      scopes::run(ir<contention<D>>, {scopes::tensor({many}, x), scopes::tensor({3}, start), scopes::tensor({3}, start),
                                      scopes::tensor({3}, start), scopes::output<std::int64_t>({}), scopes::scalar(0)});
  const auto without_tickets = scopes::run(ir<extreme_contention<D>>, {scopes::tensor({many}, x), scopes::tensor({3}, start),
                                                                       scopes::tensor({3}, start), scopes::tensor({3}, start)});
  std::vector<T> added = start, least = start, most = start;
  for (std::size_t i = 0; i < x.size(); ++i) {
    added[i % 3] = static_cast<T>(added[i % 3] + x[i]);  // all floats here are integers
    least[i % 3] = std::min(least[i % 3], x[i]);
    most[i % 3] = std::max(most[i % 3], x[i]);
  }
  for (const auto& got : {r, without_tickets}) {
    EXPECT_EQ(scopes::values<T>(got["added"]), added);
    EXPECT_EQ(scopes::values<T>(got["least"]), least);
    EXPECT_EQ(scopes::values<T>(got["most"]), most);
  }
  EXPECT_EQ(scopes::values<std::int64_t>(r["tickets"])[0], std::int64_t{many} * (many - 1) / 2);  // each number was used once
  EXPECT_EQ(scopes::values<int>(r["counter"])[0], many);
}

template <class D, class T>
void check_bits() {
  std::vector<T> x;
  for (int i = 0; i < many; ++i) x.push_back(static_cast<T>(i * 37 % 101 + 8));
  const std::vector<T> start(3, static_cast<T>(45));
  const auto r = scopes::run(ir<bit_contention<D>>, {scopes::tensor({many}, x), scopes::tensor({3}, start),
                                                     scopes::tensor({3}, start), scopes::tensor({3}, start)});
  std::vector<T> both = start, either = start, odd = start;
  for (std::size_t i = 0; i < x.size(); ++i) {
    both[i % 3] = static_cast<T>(both[i % 3] & x[i]);
    either[i % 3] = static_cast<T>(either[i % 3] | x[i]);
    odd[i % 3] = static_cast<T>(odd[i % 3] ^ x[i]);
  }
  EXPECT_EQ(scopes::values<T>(r["both"]), both);
  EXPECT_EQ(scopes::values<T>(r["either"]), either);
  EXPECT_EQ(scopes::values<T>(r["odd"]), odd);
}

TEST(Defects, AtomicsUnderContention) {
  check_contention<i8, signed char>();
  check_contention<i16, short>();
  check_contention<i32, int>();
  check_contention<i64, std::int64_t>();
  check_contention<u8, unsigned char>();
  check_contention<u16, unsigned short>();
  check_contention<u32, unsigned>();
  check_contention<u64, std::uint64_t>();
  check_contention<f32, float>();
  check_contention<f64, double>();
  check_bits<i8, signed char>();
  check_bits<u16, unsigned short>();
  check_bits<i32, int>();
  check_bits<u32, unsigned>();
  check_bits<u64, std::uint64_t>();
}

// An atomic's result has several users, and none of them repeats the atomic.
struct once : program<once> {
  in<i32, N> x;
  inout<i32, 2> counters;
  out<i32, N> sums, products, marks;
  out<i32> first, twice;
  constexpr void body() {
    marks = 0;
    auto old = counters(0).atomic_add(1);
    sums = x + old;
    products = x * old;
    first = old;
    twice = old * 2;
    for ([[maybe_unused]] auto [i] : kernel(N)) {
      auto place = counters(1).atomic_add(1);
      unique(marks(place)) += place + 1;
      if (auto late = when(place > 1)) unique(marks(place)) += 100 * place;
    }
  }
};

TEST(Defects, AtomicThatReturnsRunsOnce) {
  const auto r =
      scopes::run(ir<once>, {scopes::tensor({4}, std::vector<int>{1, 2, 3, 4}), scopes::tensor({2}, std::vector<int>{7, 0}),
                             scopes::output<int>({4}), scopes::output<int>({4}), scopes::output<int>({4}),
                             scopes::output<int>({}), scopes::output<int>({})});
  EXPECT_EQ(scopes::values<int>(r["counters"]), (std::vector<int>{8, 4}));
  EXPECT_EQ(scopes::values<int>(r["sums"]), (std::vector<int>{8, 9, 10, 11}));
  EXPECT_EQ(scopes::values<int>(r["products"]), (std::vector<int>{7, 14, 21, 28}));
  EXPECT_EQ(scopes::values<int>(r["marks"]), (std::vector<int>{1, 2, 203, 304}));
  EXPECT_EQ(scopes::values<int>(r["first"])[0], 7);
  EXPECT_EQ(scopes::values<int>(r["twice"])[0], 14);
}

// Equal extents are one extent, wherever they are named and however they are computed.
inline constexpr dim<"N"> same_as_n;
struct equal_extents : program<equal_extents> {
  in<i32, N> x;
  in<i32, same_as_n> y;
  in<i32, N + 1> longer;
  in<i32, (N + 1) * 2> pairs;
  out<i32, N> sum;
  out<i32, 2 * N + 2> both;
  constexpr void body() {
    sum = x + y + slice<0, 1, none>(longer) + slice<0, 0, -1>(longer);
    both = concat<0>(x, longer, full<i32, 1>(5)) + reshape<2 + N * 2>(pairs);
    for (auto [i] : kernel(same_as_n)) sum(i) += both(i + N);
  }
};

TEST(Defects, EqualExtents) {
  for (const int n : {0, 1, 5}) {
    std::vector<int> x(static_cast<std::size_t>(n)), longer(x.size() + 1), pairs(2 * longer.size());
    std::iota(x.begin(), x.end(), 10);
    std::iota(longer.begin(), longer.end(), 200);
    std::iota(pairs.begin(), pairs.end(), 3000);
    const auto r = scopes::run(
        ir<equal_extents>, {scopes::tensor({n}, x), scopes::tensor({n}, x), scopes::tensor({n + 1}, longer),
                            scopes::tensor({2 * n + 2}, pairs), scopes::output<int>({n}), scopes::output<int>({2 * n + 2})});
    std::vector<int> both = x;
    both.insert(both.end(), longer.begin(), longer.end());
    both.push_back(5);
    for (std::size_t i = 0; i < pairs.size(); ++i) both[i] += pairs[i];
    EXPECT_EQ(scopes::values<int>(r["both"]), both);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(scopes::values<int>(r["sum"])[i], 2 * x[i] + longer[i] + longer[i + 1] + both[i + x.size()]);
  }
}

}  // namespace

}  // namespace defects_test
