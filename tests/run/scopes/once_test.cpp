// once(): a kernel with one work item, which may assign variables from outside.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/program.h"
#include "tests/run/scopes/run_scopes.h"

namespace once_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

using Ints = std::vector<int>;
using Floats = std::vector<float>;

// Scalars and small vectors, in loops with breaks and under conditions; elements of tensors; atomics on assigned variables.
struct statistics : program<statistics> {
  in<f32, N> x;
  in<bool> wanted;
  out<f32> largest;
  out<i32> place, steps;
  out<i32, 3> signs;
  inout<f32, N> y;
  constexpr void body() {
    auto best = var(-1.0f);
    auto at = var(-1), n = var<i32>();
    auto kinds = var<i32, 3>();
    auto scratch = var<f32, N>();
    if (auto c = when(wanted)) {
      for (auto o : once()) {
        for (auto i : loop(N)) {
          auto v = x(i);
          if (auto d = when(v > best)) {
            best = v;
            at = i;
          }
          kinds(1 + cast<i32>(v > 0) - cast<i32>(v < 0)) += 1;
          scratch(i) = v * 2;
          n += 1;
          break_if(v > 100);
        }
        y(0) = best + y(0);
        n().atomic_add(1000);
        if (auto d = when(n > 1003)) kinds = kinds * 10;
      }
    }
    for (auto o : once()) n = n + 1;
    y += scratch;
    largest = best;
    place = at;
    steps = n;
    signs = kinds;
  }
};

TEST(Once, AssignsVariablesOfOutside) {
  for (const bool wanted : {true, false}) {
    for (const Floats& x : {Floats{1, -2, 0, 5, 3}, Floats{7, 200, 3, -1}, Floats{0.5f}}) {
      const auto size = static_cast<std::int64_t>(x.size());
      Floats y(x.size(), 0.5f);
      const auto r = scopes::run(ir<statistics>, {scopes::tensor({size}, x), scopes::scalar(wanted), scopes::output<float>({}),
                                                  scopes::output<int>({}), scopes::output<int>({}), scopes::output<int>({3}),
                                                  scopes::tensor({size}, y)});
      float best = -1;
      int at = -1, n = 0;
      Ints kinds(3);
      if (wanted) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (x[i] > best) best = x[i], at = static_cast<int>(i);
          ++kinds[x[i] < 0 ? 0 : x[i] == 0 ? 1 : 2];
          y[i] += x[i] * 2;
          ++n;
          if (x[i] > 100) break;
        }
        y[0] += best;
        n += 1000;
        if (n > 1003)
          for (int& k : kinds) k *= 10;
      }
      ++n;
      EXPECT_EQ(scopes::values<float>(r["largest"]), Floats{best});
      EXPECT_EQ(scopes::values<int>(r["place"]), Ints{at});
      EXPECT_EQ(scopes::values<int>(r["steps"]), Ints{n});
      EXPECT_EQ(scopes::values<int>(r["signs"]), kinds);
      EXPECT_EQ(scopes::values<float>(r["y"]), y);
    }
  }
}

// The pivots of a Cholesky factorisation. Each is computed once and used by the next kernel.
struct cholesky : program<cholesky> {
  inout<f64, N, N> w;
  constexpr void body() {
    auto d = var<f64>();
    for (auto k : loop(N)) {
      for (auto o : once()) {
        d = sqrt(w(k, k));
        w(k, k) = d;
      }
      auto rest = size<N, i32>() - 1 - k;
      for (auto [t] : kernel(rest)) w(k + 1 + t, k) = w(k + 1 + t, k) / d;
      for (auto [s, t] : kernel(rest, rest)) {
        auto i = k + 1 + s, j = k + 1 + t;
        if (auto c = when(j <= i)) w(i, j) -= w(i, k) * w(j, k);
      }
    }
  }
};

TEST(Once, Cholesky) {
  const int n = 9;
  std::vector<double> w, expected;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) w.push_back(i == j ? n : 1.0 / (1 + std::max(i - j, j - i)));
  expected = w;
  const auto at = [&](int i, int j) -> double& { return expected[static_cast<std::size_t>(i * n + j)]; };
  for (int k = 0; k < n; ++k) {
    at(k, k) = std::sqrt(at(k, k));
    for (int i = k + 1; i < n; ++i) at(i, k) /= at(k, k);
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j <= i; ++j) at(i, j) -= at(i, k) * at(j, k);
  }
  const auto r = scopes::run(ir<cholesky>, {scopes::tensor({n, n}, w)});
  const auto got = scopes::values<double>(r["w"]);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) EXPECT_EQ(got[static_cast<std::size_t>(i * n + j)], at(i, j)) << i << " " << j;
}

}  // namespace

}  // namespace once_test
