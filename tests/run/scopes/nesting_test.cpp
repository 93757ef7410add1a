// Nested scopes, in kernels and around them: bounds and steps from data, exits from inside conditions, modules that open
// scopes, chains of conditions, and tensors in between. Compared with the same code in C++.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <limits>

#include "tests/run/scopes/run_scopes.h"

namespace nesting_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

using Ints = std::vector<int>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Every work item has its own begin, end and step. The inner loop counts down.
struct steps : program<steps> {
  in<i32, N> begin, end, step;
  out<i32, N> iterations, sum;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto count = var(0), total = var(0);
      for (auto k : loop(begin(i), end(i), step(i))) {
        count += 1;
        continue_if(k % 3 == 1);
        for (auto m : loop(k, begin(i) - 1, 0 - step(i))) {
          if (auto far = when(m > 50)) {
            break_if(m % 2 == 0);
            total += 1000;
          }
          if (auto near = otherwise(m < 5)) continue_();
          if (auto rest = otherwise()) total -= m;
          total += k;
        }
        break_if(count > 9);
      }
      iterations(i) = count;
      sum(i) = total;
    }
  }
};

TEST(Nesting, StepsOfEachWorkItem) {
  Ints begin, end, step;
  for (int i = 0; i < 61; ++i) {
    begin.push_back(i * 37 % 23 - 11);
    end.push_back(i * 53 % 97 - 40);
    step.push_back(i * 7 % 9 - 4);
  }
  const std::int64_t n = std::ssize(begin);
  const auto r = scopes::run(ir<steps>, {scopes::tensor({n}, begin), scopes::tensor({n}, end), scopes::tensor({n}, step),
                                         scopes::output<int>({n}), scopes::output<int>({n})});
  const auto goes_on = [](int k, int last, int by) { return by > 0 ? k < last : by < 0 && k > last; };
  for (std::size_t i = 0; i < begin.size(); ++i) {
    int count = 0, total = 0;
    for (int k = begin[i]; goes_on(k, end[i], step[i]); k += step[i]) {
      ++count;
      if (k % 3 == 1) continue;
      for (int m = k; goes_on(m, begin[i] - 1, -step[i]); m -= step[i]) {
        if (m > 50) {
          if (m % 2 == 0) break;
          total += 1000;
        } else if (m < 5) {
          continue;
        } else {
          total -= m;
        }
        total += k;
      }
      if (count > 9) break;
    }
    EXPECT_EQ(scopes::values<int>(r["iterations"])[i], count) << i;
    EXPECT_EQ(scopes::values<int>(r["sum"])[i], total) << i;
  }
}

// The counter does not reach the number after the end, which may not fit i32.
struct ends : program<ends> {
  in<i32, N> begin, end, step;
  out<i32, N> iterations, last;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto count = var(0), k_last = var(0);
      for (auto k : loop(begin(i), end(i), step(i))) count += 1, k_last = k;
      iterations(i) = count;
      last(i) = k_last;
    }
  }
};

TEST(Nesting, CountersAtTheEndsOfTheirType) {
  constexpr int high = std::numeric_limits<int>::max(), low = std::numeric_limits<int>::min();
  const Ints begin = {high - 7, high - 1, low + 5, 0, low, high, low}, end = {high, high, low, low, high, low, high},
             step = {4, high, -4, low, high, low, low};
  const std::int64_t n = std::ssize(begin);
  const auto r = scopes::run(ir<ends>, {scopes::tensor({n}, begin), scopes::tensor({n}, end), scopes::tensor({n}, step),
                                        scopes::output<int>({n}), scopes::output<int>({n})});
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const std::int64_t by = step[i], behind = end[i];
    int count = 0;
    std::int64_t last = 0;
    for (std::int64_t k = begin[i]; by > 0 ? k < behind : k > behind; k += by) ++count, last = k;
    EXPECT_EQ(scopes::values<int>(r["iterations"])[i], count) << i;
    EXPECT_EQ(scopes::values<int>(r["last"])[i], last) << i;
  }
}

// A module with state of its own, and functions that open scopes.
template <class State>
struct numbers {
  State state;
  constexpr auto next() {
    state = state * 1664525u + 1013904223u;
    return cast<i32>(state >> 24);
  }
  // The first number below `limit`; -1: none of sixteen.
  constexpr auto below(auto const& s, auto const& limit) {
    auto found = s.var(-1);
    for ([[maybe_unused]] auto iteration : s.loop(16)) {
      auto v = next();
      if (auto c = s.when(v < limit)) {
        found = v;
        s.break_();
      }
    }
    return found + 0;
  }
};
struct modules : program<modules> {
  in<i32, N> limit;
  out<i32, N> first, sum;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      numbers<decltype(var(cast<u32>(i)))> g{var(cast<u32>(i))};
      first(i) = g.below(*this, limit(i));
      auto total = var(0);
      for (auto k : loop(3)) {
        if (auto c = when(k != i % 3)) total += g.below(*this, limit(i) * k);
        if (auto c = otherwise()) total -= g.next();
      }
      sum(i) = total;
    }
  }
};

struct NumbersByHand {
  unsigned state;
  int next() {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>(state >> 24);
  }
  int below(int limit) {
    for (int iteration = 0; iteration < 16; ++iteration)
      if (const int v = next(); v < limit) return v;
    return -1;
  }
};

TEST(Nesting, Modules) {
  Ints limit;
  for (int i = 0; i < 45; ++i) limit.push_back(i * 31 % 120 - 5);
  const auto r = scopes::run(ir<modules>, {scopes::tensor({45}, limit), scopes::output<int>({45}), scopes::output<int>({45})});
  for (int i = 0; i < 45; ++i) {
    NumbersByHand g{static_cast<unsigned>(i)};
    EXPECT_EQ(scopes::values<int>(r["first"])[at(i)], g.below(limit[at(i)])) << i;
    int sum = 0;
    for (int k = 0; k < 3; ++k) sum += k != i % 3 ? g.below(limit[at(i)] * k) : -g.next();
    EXPECT_EQ(scopes::values<int>(r["sum"])[at(i)], sum) << i;
  }
}

// Outside of kernels: extents are halved and quartered, a counter goes down by a step from data, conditions contain exits,
// variables hold tensors, and a chain of conditions selects the code that runs.
struct stages : program<stages> {
  in<i32> stride, which;
  inout<i32, N> x;
  out<i32> levels, passes;
  constexpr void body() {
    auto level = var(0), pass = var(0), half = var(x.size<0>() / 2);
    auto kept = var(x);
    for (auto k : forever()) {
      break_if(half < 2);
      for (auto [i] : kernel(half)) x.at<mode::skip>(i) = x(i) * 2 + k;
      for (auto [i, j] : kernel(half / 2, 2)) kept.at<mode::skip>(2 * i + j) += x(i) - j;
      half = half / 2;
      level += 1;
    }
    for (auto k : loop(x.size<0>(), 0, 0 - stride)) {
      pass += 1;
      if (auto c = when(which == 0)) {
        for (auto [i] : kernel(k)) x.at<mode::skip>(i + 1) += k;
        continue_if(k % 2 == 0);
        x = x - 1;
      }
      if (auto c = otherwise(which == 1)) {
        kept = kept + x;
        break_if(kept(0) > 40);
        x = x + kept;
      }
      if (auto c = otherwise(x(1) % 2 == 0)) {
        for (auto [i] : kernel(N)) x(i) -= i;
        for (auto m : loop(k)) {
          x(m) += 1;
          if (auto d = when(m == 2)) break_();
        }
      }
      if (auto c = otherwise()) {
        x = x * 3;
        break_();
      }
      x(0) = x(0) + sum(kept);
    }
    x = x + kept;
    levels = level;
    passes = pass;
  }
};

// Overflow wraps, as in Kiln.
void add(int& x, int y) { x = static_cast<int>(static_cast<unsigned>(x) + static_cast<unsigned>(y)); }
void add(Ints& x, const Ints& y) {
  for (std::size_t i = 0; i < x.size(); ++i) add(x[i], y[i]);
}
int sum_of(const Ints& x) {
  int s = 0;
  for (const int v : x) add(s, v);
  return s;
}

struct StagesByHand {
  Ints x, kept = x;
  int levels = 0, passes = 0;

  void halve() {
    for (int half = static_cast<int>(x.size()) / 2; half >= 2; half /= 2, ++levels) {
      for (int i = 0; i < half; ++i) x[at(i)] = x[at(i)] * 2 + levels;
      for (int i = 0; i < half / 2; ++i)
        for (int j = 0; j < 2; ++j) kept[at(2 * i + j)] += x[at(i)] - j;
    }
  }
  // False: the loop ends here.
  bool pass(int k, int which) {
    ++passes;
    if (which == 0) {
      for (int i = 0; i < k && i + 1 < std::ssize(x); ++i) x[at(i + 1)] += k;
      if (k % 2 == 0) return true;
      for (int& v : x) --v;
    } else if (which == 1) {
      add(kept, x);
      if (kept[0] > 40) return false;
      add(x, kept);
    } else if (x[std::min<std::size_t>(1, x.size() - 1)] % 2 == 0) {
      for (int i = 0; i < std::ssize(x); ++i) x[at(i)] -= i;
      for (int m = 0; m < std::min(k, 3); ++m) ++x[at(std::min<std::int64_t>(m, std::ssize(x) - 1))];
    } else {
      for (int& v : x) v *= 3;
      return false;
    }
    add(x[0], sum_of(kept));
    return true;
  }
};

TEST(Nesting, StagesOutsideOfKernels) {
  for (const int n : {1, 37})
    for (const int stride : {-2, 1, 3})
      for (const int which : {0, 1, 2}) {
        StagesByHand hand{.x = {}};
        for (int i = 0; i < n; ++i) hand.x.push_back(i * 7 % 5 - 2);
        const auto r = scopes::run(ir<stages>, {scopes::scalar(stride), scopes::scalar(which), scopes::tensor({n}, hand.x),
                                                scopes::output<int>({}), scopes::output<int>({})});
        hand.kept = hand.x;
        hand.halve();
        for (int k = n; stride > 0 && k > 0; k -= stride)
          if (!hand.pass(k, which)) break;
        add(hand.x, hand.kept);
        EXPECT_EQ(scopes::values<int>(r["x"]), hand.x) << n << " " << stride << " " << which;
        EXPECT_EQ(scopes::values<int>(r["levels"])[0], hand.levels);
        EXPECT_EQ(scopes::values<int>(r["passes"])[0], hand.passes);
      }
}

}  // namespace

}  // namespace nesting_test
