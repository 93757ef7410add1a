// Programs of first users on the columns of a matrix: pivots, eliminations and Cholesky steps by loops around kernels.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/run/scopes/run_scopes.h"

namespace newcomers_columns_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

// A program whose body changes the matrix w. rest: the number of rows below row k.
#define KILN_COLUMNS(Name, ...)                                    \
  struct Name : program<Name> {                                    \
    inout<f64, N, N> w;                                            \
    constexpr auto rest(auto k) { return size<N, i32>() - 1 - k; } \
    constexpr void body() { __VA_ARGS__ }                          \
  };

KILN_COLUMNS(
    lower_half, for (auto k : loop(N)) for (auto [s, t] : kernel(rest(k), rest(k))) {
      auto i = k + 1 + s, j = k + 1 + t;
      if (auto c = when(j <= i)) w(i, j) -= w(i, k) * w(j, k);
    })
KILN_COLUMNS(
    square, for (auto k : loop(N)) for (auto [s, t] : kernel(rest(k), rest(k))) {
      auto i = k + 1 + s, j = k + 1 + t;
      w(i, j) -= w(i, k) * w(j, k);
    })
KILN_COLUMNS(
    square_by_a_copy, auto column = var(full<f64, N>(0)); for (auto k : loop(N)) {
      for (auto [s] : kernel(N)) column(s) = w(s, k);
      for (auto [s, t] : kernel(rest(k), rest(k))) {
        auto i = k + 1 + s, j = k + 1 + t;
        w(i, j) -= column(i) * column(j);
      }
    })
KILN_COLUMNS(
    square_by_select, auto column = var(full<f64, N>(0)); for (auto k : loop(N)) {
      for (auto [s] : kernel(N)) column(s) = w(s, k);
      for (auto [i, j] : kernel(N, N)) w(i, j) -= select(i > k && j > k, column(i) * column(j), 0);
    })
KILN_COLUMNS(
    square_by_tensors, for (auto k : loop(N)) {
      auto c = w(arange<N>(), k), r = w(k);
      w -= select(iota<0>(w) > k && iota<1>(w) > k, unsqueeze<1>(c) * unsqueeze<0>(r), 0);
    })
KILN_COLUMNS(
    cholesky, for (auto k : loop(N)) {
      auto d = stored(sqrt(w(k, k)));
      w(k, k) = d;
      for (auto [t] : kernel(rest(k))) w(k + 1 + t, k) = w(k + 1 + t, k) / d;
      for (auto [s, t] : kernel(rest(k), rest(k))) {
        auto i = k + 1 + s, j = k + 1 + t;
        if (auto c = when(j <= i)) w(i, j) -= w(i, k) * w(j, k);
      }
    })
KILN_COLUMNS(
    cholesky_by_copies, auto d = var(full<f64, 1>(0)); auto column = var(full<f64, N>(0)); for (auto k : loop(N)) {
      for (auto [o] : kernel(1)) d(0) = sqrt(w(k, k));
      for (auto [t] : kernel(rest(k) + 1)) column(k + t) = select(t == 0, d(0), w(k + t, k) / d(0));
      for (auto [t] : kernel(rest(k) + 1)) w(k + t, k) = column(k + t);
      for (auto [s, t] : kernel(rest(k), rest(k))) {
        auto i = k + 1 + s, j = k + 1 + t;
        w(i, j) -= column(i) * column(j);
      }
    })
KILN_COLUMNS(
    divided, for (auto k : loop(N)) {
      auto d = w(k, k);
      for (auto [t] : kernel(N)) w(t, k) = w(t, k) / d;
    })
KILN_COLUMNS(
    divided_by_a_copy, auto d = var(full<f64, 1>(0)); for (auto k : loop(N)) {
      for (auto [o] : kernel(1)) d(0) = w(k, k);
      for (auto [t] : kernel(N)) w(t, k) = w(t, k) / d(0);
    })
KILN_COLUMNS(
    halved, for (auto k : loop(N)) {
      w(k, k) = 2;
      for (auto [t] : kernel(N)) w(t, k) *= 0.5;
    })
KILN_COLUMNS(
    halved_by_kernels, for (auto k : loop(N)) {
      for (auto [o] : kernel(1)) w(k, k) = 2;
      for (auto [t] : kernel(N)) w(t, k) *= 0.5;
    })
KILN_COLUMNS(diagonal_roots, for (auto k : loop(N)) w(k, k) = sqrt(w(k, k));)
KILN_COLUMNS(diagonal_roots_by_kernels, for (auto k : loop(N)) for (auto [o] : kernel(1)) w(k, k) = sqrt(w(k, k));)
KILN_COLUMNS(
    value_without_a_use, for (auto k : loop(N)) {
      [[maybe_unused]] auto d = w(k, k);
      for (auto [t] : kernel(N)) w(t, k) = w(t, k) / 2;
    })
KILN_COLUMNS(
    value_from_before_a_write, for (auto k : loop(N)) {
      auto d = w(k, k);
      w(k, k) = d * 2;
      for (auto [t] : kernel(N)) w(t, k) = w(t, k) / d;
    })
KILN_COLUMNS(
    read_again, for (auto k : loop(N)) {
      w(k, k) = 2;
      w(k, 0) = w(k, k) + 1;
    })
KILN_COLUMNS(
    root_then_divided, for (auto k : loop(N)) {
      auto d = sqrt(w(k, k));
      w(k, k) = d;
      for (auto [t] : kernel(N)) w(t, k) = w(t, k) / d;
    })
KILN_COLUMNS(
    root_read_again, for (auto k : loop(N)) {
      w(k, k) = sqrt(w(k, k));
      auto d = w(k, k);
      for (auto [t] : kernel(N)) w(t, k) = w(t, k) / d;
    })
KILN_COLUMNS(
    root_by_kernels, for (auto k : loop(N)) {
      for (auto [o] : kernel(1)) w(k, k) = sqrt(w(k, k));
      auto d = var(w(k, k));
      for (auto [t] : kernel(N))
        if (auto c = when(t != k)) w(t, k) = w(t, k) / d;
    })
KILN_COLUMNS(pivot_is_before,
             for (auto k : loop(N)) for (auto [t] : kernel(N)) if (auto c = when(t > k)) w(t, k) = w(t, k) / w(k, k);)
KILN_COLUMNS(pivot_of_a_loop,
             for (auto k : loop(N)) for (auto [t] : kernel(N)) if (auto c = when(t != k)) w(t, k) = w(t, k) / w(k, k);)
KILN_COLUMNS(
    pivot_on_either_side, for (auto k : loop(N)) {
      for (auto [t] : kernel(N))
        if (auto c = when(t < k)) w(t, k) = w(t, k) / w(k, k);
      for (auto [t] : kernel(N))
        if (auto c = when(t > k)) w(t, k) = w(t, k) / w(k, k);
    })
KILN_COLUMNS(gauss_jordan, for (auto k : loop(N)) for (auto [i, j] : kernel(N, N)) if (auto c = when(i != k && j != k))
                               w(i, j) -= w(i, k) * w(k, j) / w(k, k);)
KILN_COLUMNS(floyd_warshall, for (auto k : loop(N)) for (auto [i, j] : kernel(N, N)) if (auto c = when(i != k && j != k))
                                 w(i, j) = min(w(i, j), w(i, k) + w(k, j));)
KILN_COLUMNS(
    transposed, for (auto [i, j] : kernel(N, N)) if (auto c = when(i < j)) {
      auto a = w(i, j), b = w(j, i);
      w(i, j) = b;
      w(j, i) = a;
    })

class Matrix {
 public:
  explicit Matrix(int n) : n_(n) {
    for (int i = 0; i < n * n; ++i) values.push_back((i * 37 % 101) * 0.01 + (i % (n + 1) == 0 ? 2 * n : 0));
  }
  double& operator()(int i, int j) { return values[static_cast<std::size_t>(i * n_ + j)]; }

  std::vector<double> values;

 private:
  int n_;
};

// The same in plain C++: step k.
using Step = std::function<void(Matrix& w, int k, int n)>;

void expect_steps(const kiln::dsl::record::program& p, const Step& step) {
  for (const int n : {0, 1, 2, 5, 17}) {
    SCOPED_TRACE(n);
    Matrix w(n);
    const auto got = scopes::run(p, {scopes::tensor({n, n}, w.values)});
    for (int k = 0; k < n; ++k) step(w, k, n);
    EXPECT_EQ(scopes::values<double>(got["w"]), w.values);
  }
}

void eliminate(Matrix& w, int k, int n) {
  for (int i = k + 1; i < n; ++i)
    for (int j = k + 1; j < n; ++j) w(i, j) -= w(i, k) * w(j, k);
}

void eliminate_lower(Matrix& w, int k, int n) {
  for (int i = k + 1; i < n; ++i)
    for (int j = k + 1; j <= i; ++j) w(i, j) -= w(i, k) * w(j, k);
}

void divide_column(Matrix& w, int k, int n) {
  const double d = w(k, k);
  for (int t = 0; t < n; ++t) w(t, k) /= d;
}

void divide_others(Matrix& w, int k, int n) {
  for (int t = 0; t < n; ++t)
    if (t != k) w(t, k) /= w(k, k);
}

void halve(Matrix& w, int k, int n) {
  w(k, k) = 2;
  for (int t = 0; t < n; ++t) w(t, k) *= 0.5;
}

void take_root(Matrix& w, int k, int) { w(k, k) = std::sqrt(w(k, k)); }

TEST(NewcomersColumns, LowerHalf) { expect_steps(ir<lower_half>, eliminate_lower); }
TEST(NewcomersColumns, Square) { expect_steps(ir<square>, eliminate); }

TEST(NewcomersColumns, SquareByACopyOfTheColumn) {
  expect_steps(ir<square_by_a_copy>, eliminate);
  expect_steps(ir<square_by_select>, eliminate);
}

TEST(NewcomersColumns, SquareByTensors) {
  expect_steps(ir<square_by_tensors>, [](Matrix& w, int k, int n) {
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j) w(i, j) -= w(i, k) * w(k, j);
  });
}

TEST(NewcomersColumns, Cholesky) {
  expect_steps(ir<cholesky>, [](Matrix& w, int k, int n) {
    take_root(w, k, n);
    for (int t = k + 1; t < n; ++t) w(t, k) /= w(k, k);
    eliminate_lower(w, k, n);
  });
}

TEST(NewcomersColumns, CholeskyByCopies) {
  expect_steps(ir<cholesky_by_copies>, [](Matrix& w, int k, int n) {
    take_root(w, k, n);
    for (int t = k + 1; t < n; ++t) w(t, k) /= w(k, k);
    eliminate(w, k, n);
  });
}

TEST(NewcomersColumns, DividedByAnElementOfBefore) {
  expect_steps(ir<divided>, divide_column);
  expect_steps(ir<divided_by_a_copy>, divide_column);
}

TEST(NewcomersColumns, WriteOfAnElementThenAKernel) {
  expect_steps(ir<halved>, halve);
  expect_steps(ir<halved_by_kernels>, halve);
}

TEST(NewcomersColumns, RootsOfTheDiagonal) {
  expect_steps(ir<diagonal_roots>, take_root);
  expect_steps(ir<diagonal_roots_by_kernels>, take_root);
}

TEST(NewcomersColumns, ValueWithoutAUse) {
  expect_steps(ir<value_without_a_use>, [](Matrix& w, int k, int n) {
    for (int t = 0; t < n; ++t) w(t, k) /= 2;
  });
}

TEST(NewcomersColumns, ValueFromBeforeAWrite) {
  expect_steps(ir<value_from_before_a_write>, [](Matrix& w, int k, int n) {
    const double d = w(k, k);
    w(k, k) = d * 2;
    for (int t = 0; t < n; ++t) w(t, k) /= d;
  });
}

TEST(NewcomersColumns, ElementReadAgainAfterItsWrite) {
  expect_steps(ir<read_again>, [](Matrix& w, int k, int) {
    w(k, k) = 2;
    w(k, 0) = w(k, k) + 1;
  });
}

TEST(NewcomersColumns, RootThenDivided) {
  const auto step = [](Matrix& w, int k, int n) {
    take_root(w, k, n);
    divide_column(w, k, n);
  };
  expect_steps(ir<root_then_divided>, step);
  expect_steps(ir<root_read_again>, step);
}

TEST(NewcomersColumns, RootByKernels) {
  expect_steps(ir<root_by_kernels>, [](Matrix& w, int k, int n) {
    take_root(w, k, n);
    divide_others(w, k, n);
  });
}

TEST(NewcomersColumns, PivotIsBefore) {
  expect_steps(ir<pivot_is_before>, [](Matrix& w, int k, int n) {
    for (int t = k + 1; t < n; ++t) w(t, k) /= w(k, k);
  });
}

TEST(NewcomersColumns, PivotOfALoop) {
  expect_steps(ir<pivot_of_a_loop>, divide_others);
  expect_steps(ir<pivot_on_either_side>, divide_others);
}

TEST(NewcomersColumns, GaussJordan) {
  expect_steps(ir<gauss_jordan>, [](Matrix& w, int k, int n) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != k && j != k) w(i, j) -= w(i, k) * w(k, j) / w(k, k);
  });
}

TEST(NewcomersColumns, FloydWarshall) {
  expect_steps(ir<floyd_warshall>, [](Matrix& w, int k, int n) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != k && j != k) w(i, j) = std::min(w(i, j), w(i, k) + w(k, j));
  });
}

TEST(NewcomersColumns, TransposedInPlace) {
  expect_steps(ir<transposed>, [](Matrix& w, int k, int n) {
    for (int j = k + 1; j < n; ++j) std::swap(w(k, j), w(j, k));
  });
}

}  // namespace

}  // namespace newcomers_columns_test
