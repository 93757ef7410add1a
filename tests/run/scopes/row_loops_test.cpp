// Kernels whose work items are columns and whose loops walk through rows: the loops over rows run around those over columns.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace row_loops_test {

using namespace kiln;

namespace {

inline constexpr dim<"M"> M;
inline constexpr dim<"N"> N;

std::vector<float> numbers(std::int64_t n) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>((i * 7919 + 13) % 101 - 50) / 16);
  return v;
}

// Carried values that change places, values from before the loop, and an element that is read before the loop overwrites it.
template <auto Rows, auto Columns>
struct filters : program<filters<Rows, Columns>> {
  in<f32, Rows, Columns> x;
  in<f32, Columns> w;
  inout<f32, Rows, Columns> z;
  out<f32, Rows, Columns> swapped, y;
  out<f32, Columns> last, first;
  constexpr void body() {
    for (auto [j] : this->kernel(Columns)) {
      auto a = this->template var<f32>(0);
      auto b = this->template var<f32>(1);
      auto scale = 1 / (1 + w(j) * w(j));
      auto old = z(0, j);
      for (auto i : this->loop(Rows)) {
        auto before = a;
        a = b;
        b = before + scale * x(i, j);
        swapped(i, j) = a;
        z(i, j) = z(i, j) * 0.5f + b;
      }
      for (auto i : this->loop(Rows)) {
        auto at = x.template size<0>() - 1 - i;
        a = a * 0.5f + z(at, j);
        y(at, j) = a + old;
      }
      last(j) = a;
      first(j) = old * scale;
    }
  }
};

// Loops inside loops over rows: short ones, one that does not depend on the column, conditions, and a second axis of rows.
template <auto Rows, auto Columns>
struct nested : program<nested<Rows, Columns>> {
  in<f32, 9, Rows, Columns> x;
  in<f32, Rows, 3> k;
  out<f32, 9, Rows, Columns> y;
  out<f32, Columns> kept;
  constexpr void body() {
    for (auto [j] : this->kernel(Columns)) {
      auto total = this->template var<f32>(0);
      for (auto p : this->loop(9)) {
        auto a = this->template var<f32>(total);
        for (auto i : this->loop(Rows)) {
          auto s = this->template var<f32>(0);
          for (auto c : this->loop(3)) s += k(i, c);
          if (auto is_large = this->when(x(p, i, j) > 1)) a = a * 0.25f;
          a += s * x(p, i, j);
          y(p, i, j) = a;
        }
        total += a;
      }
      kept(j) = total;
    }
  }
};

// Rows of a batch, and values of different types.
template <auto Rows, auto Columns>
struct batch : program<batch<Rows, Columns>> {
  in<f32, 3, Rows, Columns> x;
  out<i32, 3, Columns> where;
  out<f32, 3, Columns> most;
  out<f64, 3, Rows, Columns> sums;
  constexpr void body() {
    for (auto [b, j] : this->kernel(3, Columns)) {
      auto m = this->template var<f32>(-100);
      auto at = this->template var<i32>(-1);
      auto s = this->template var<f64>(0);
      auto seen = this->template var<bool>(false);
      for (auto i : this->loop(Rows)) {
        auto is_more = x(b, i, j) > m;
        at = select(is_more, cast<i32>(i), at);
        m = select(is_more, x(b, i, j), m);
        seen = seen || m > 2;
        s += cast<f64>(select(seen, x(b, i, j), 0));
        sums(b, i, j) = s;
      }
      where(b, j) = at;
      most(b, j) = m;
    }
  }
};

// Values that change places, without stores in the loop: the next value of each needs the other one.
template <auto Rows, auto Columns>
struct exchange : program<exchange<Rows, Columns>> {
  in<f32, Rows, Columns> x;
  out<f32, 2, Columns> y;
  constexpr void body() {
    for (auto [j] : this->kernel(Columns)) {
      auto a = this->template var<f32>(1);
      auto b = this->template var<f32>(2);
      for (auto i : this->loop(Rows)) {
        auto before = a;
        a = b;
        b = before;
        a = a + x(i, j);
      }
      y(0, j) = a;
      y(1, j) = b;
    }
  }
};

// Work items are rows, and their loops update the elements of a row, of which the next iteration reads one: no tiles are loaded
// (transpose_loads).
struct updated_rows : program<updated_rows> {
  inout<f32, N, 35> y;
  out<f32, N> last;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = var<f32>(0.5f);
      for (auto k : loop(34)) {
        auto t = var<f32>(y(i, k));
        for (int r = 0; r < 40; ++r) t = t * (a * 0.01f) + 0.125f;
        a = t * 0.25f - a * 0.5f;
        y(i, k + 1) = y(i, k + 1) * 0.5f + t;
      }
      last(i) = a;
    }
  }
};

template <class Check>
void each_extent(Check&& check) {
  for (const std::int64_t m : {0, 1, 7, 8, 13})
    for (const std::int64_t n : {0, 1, 17, 63, 64, 65, 100, 1031, 2100}) check(m, n);
}

// `run` compares the compiled code with the interpreter, bit by bit.
TEST(RowLoops, Filters) {
  const auto run = [](const auto& p, std::int64_t m, std::int64_t n) {
    scopes::run(p, {scopes::tensor({m, n}, numbers(m * n)), scopes::tensor({n}, numbers(n)),
                    scopes::tensor({m, n}, numbers(m * n)), scopes::output<float>({m, n}), scopes::output<float>({m, n}),
                    scopes::output<float>({n}), scopes::output<float>({n})});
  };
  each_extent([&](std::int64_t m, std::int64_t n) {
    if (m > 0) run(ir<filters<M, N>>, m, n);  // reads row 0
  });
  run(ir<filters<13, 100>>, 13, 100);
  run(ir<filters<13, 64>>, 13, 64);
  run(ir<filters<9, 3001>>, 9, 3001);
}

TEST(RowLoops, Exchange) {
  const auto run = [](const auto& p, std::int64_t m, std::int64_t n) {
    scopes::run(p, {scopes::tensor({m, n}, numbers(m * n)), scopes::output<float>({2, n})});
  };
  each_extent([&](std::int64_t m, std::int64_t n) { run(ir<exchange<M, N>>, m, n); });
  run(ir<exchange<13, 100>>, 13, 100);
}

TEST(RowLoops, UpdatedRowsInLanes) {
  for (const std::int64_t n : {0, 1, 8, 17, 33})
    scopes::run(ir<updated_rows>, {scopes::tensor({n, 35}, numbers(35 * n)), scopes::output<float>({n})});
}

TEST(RowLoops, Nested) {
  const auto run = [](const auto& p, std::int64_t m, std::int64_t n) {
    scopes::run(p, {scopes::tensor({9, m, n}, numbers(9 * m * n)), scopes::tensor({m, 3}, numbers(3 * m)),
                    scopes::output<float>({9, m, n}), scopes::output<float>({n})});
  };
  each_extent([&](std::int64_t m, std::int64_t n) { run(ir<nested<M, N>>, m, n); });
  run(ir<nested<13, 100>>, 13, 100);
  run(ir<nested<5, 321>>, 5, 321);
}

TEST(RowLoops, Batch) {
  const auto run = [](const auto& p, std::int64_t m, std::int64_t n) {
    scopes::run(p, {scopes::tensor({3, m, n}, numbers(3 * m * n)), scopes::output<int>({3, n}), scopes::output<float>({3, n}),
                    scopes::output<double>({3, m, n})});
  };
  each_extent([&](std::int64_t m, std::int64_t n) { run(ir<batch<M, N>>, m, n); });
  run(ir<batch<13, 100>>, 13, 100);
  run(ir<batch<13, 1031>>, 13, 1031);
}

}  // namespace

}  // namespace row_loops_test
