// Forward mode through loops, kernels and what they carry, against dual numbers over the records of each program. A program
// with workgroups, which the dual numbers do not know, is compared with a closed form.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <cmath>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace forward_scopes_test {

using namespace kiln;
using grad_test::around_zero;
using grad_test::Program;
using grad_test::Tensor;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"K"> K;

// Loops around tensors: a known and an unknown number of turns, an end by a value, a sum that begins without a derivative, an
// element of a variable, a condition, a matrix product in each turn.
struct host_loops : program<host_loops> {
  in<f64, N> x, v;
  in<f64, 3, N> many;
  in<f64, K, N> list;
  in<f64, N, N> w;
  in<i32> turns;
  out<f64, N> along, second;
  out<f64, 3, N> along_each;
  out<f64, K> along_list;
  out<f64> rest;
  constexpr void body() {
    auto y = var(x);
    auto total = var<f64>(0);
    auto seen = var<i32>(0);
    for (auto t : loop(turns)) {
      auto moved = tanh(matmul(w, y)) + y * 0.5;
      total += sum(moved * cast<f64>(t + 1));
      y = moved;
      if (auto c = when(total > 0.5)) y = y * y;
      seen += 1;
      break_if(total > 4.0);
    }
    for (auto t : loop(2)) y(t) = y(t + 1) * y(0);
    along = jvp(y, x, v);
    along_each = jvp(y, wrt(x, many));
    along_list = jvp(total, x, list);
    second = jvp(jvp(y, x, v), x, v);
    rest = total + cast<f64>(seen);
  }
};
TEST(Forward, HostLoops) {
  Program program(ir<host_loops>);
  for (const double turns : {0.0, 1.0, 3.0})
    program.check({{"x", around_zero({20, 1}, {4}, 1)},
                   {"v", around_zero({20, 2}, {4}, 1)},
                   {"many", around_zero({20, 3}, {3, 4}, 1)},
                   {"list", around_zero({20, 4}, {2, 4}, 1)},
                   {"w", around_zero({20, 5}, {4, 4}, 1)},
                   {"turns", {{}, {turns}}}},
                  {{"N", 4}, {"K", 2}});
}

// Kernels: reads of neighbours, a loop with a break, a variable, a local array with an index from data, conditions, values that
// are read after they were written, a function of an integer, and an output that begins with an argument.
struct kernels : program<kernels> {
  in<f64, N> x, v;
  in<f64, 2, N> many;
  inout<f64, N> y;
  out<f64, N> dy, second, by_self;
  out<f64, 2, N> each;
  constexpr void body() {
    auto first = y * x;
    auto z = var(first);
    for (auto [i] : kernel(N)) {
      auto p = var(x(i));
      auto left = x(max(i - 1, 0));
      auto a = local<f64, 4>();
      a(i % 4) = p * left;
      a(2) += sin(p);
      for (auto k : loop(5)) {
        p = p * 0.75 + a(k % 4) * left;
        a(k % 4) = a(k % 4) + p * cast<f64>(k);
        break_if(p > 1.5);
        if (auto c = when(p < 0.0)) p = exp(p);
      }
      z(i) = z(i) + p;
      z(i) = z(i) * z(i);
    }
    y = z;
    dy = jvp(z, x, v);
    each = jvp(z, x, many);
    second = jvp(jvp(z, x, v), x, v);
    by_self = jvp(z, wrt(x, dy), wrt(first, v));
  }
};
TEST(Forward, Kernels) {
  Program program(ir<kernels>);
  program.check({{"x", around_zero({21, 1}, {9}, 2)},
                 {"v", around_zero({21, 2}, {9}, 1)},
                 {"many", around_zero({21, 3}, {2, 9}, 1)},
                 {"y", around_zero({21, 4}, {9}, 1)}},
                {{"N", 9}});
}

// Atomic operations, and their results.
struct atomics : program<atomics> {
  in<f64, N> x, v;
  in<f64, 2, N> many;
  in<i32, N> place;
  out<f64, 3> dsums, dmost, dlast, plain;
  out<f64, 2, 3> each;
  out<f64, N> dolds;
  constexpr void body() {
    auto sums = var<f64, 3>(0);
    auto most = var<f64, 3>(-0.5);
    auto last = var<f64, 3>(1);
    auto olds = var(x * 0.0);
    for (auto [i] : kernel(N)) {
      auto s = x(i) * x(i);
      olds(i) = sums(place(i)).atomic_add(s) * s;
      most(place(i)).atomic_max(x(i) * 2);
      last(place(i)).atomic_exchange(sin(x(i)));
    }
    plain = sums + most + last;
    dsums = jvp(sums, x, v);
    each = jvp(sums * most, x, many);
    dmost = jvp(most, x, v);
    dlast = jvp(last, x, v);
    dolds = jvp(olds, x, v);
  }
};
TEST(Forward, Atomics) {
  Program(ir<atomics>)
      .check({{"x", around_zero({22, 1}, {7}, 2)},
              {"v", around_zero({22, 2}, {7}, 1)},
              {"many", around_zero({22, 3}, {2, 7}, 1)},
              {"place", {{7}, {0, 2, 1, 2, 0, 0, 2}}}},
             {{"N", 7}});
}

// Derivatives inside of a kernel, through a loop of the kernel, with several directions, second ones and a Laplacian.
struct inside : program<inside> {
  in<f64, N, 3> points;
  out<f64, N> along, bent, total;
  out<f64, N, 3> each;
  constexpr auto field(Operand auto const& p) const {
    auto d = var(sum(p * p));
    for (auto k : loop(3)) d = sqrt(d + 0.25) * p(0) + cast<f64>(k);
    return d * p(1);
  }
  constexpr void body() {
    auto unit = cast<f64>(unsqueeze<1>(arange<3>()) == arange<3>());
    for (auto [i] : kernel(N)) {
      auto p = points(i);
      auto d = field(p);
      auto v = stop_gradient(p) * 0.5;
      along(i) = jvp(d, p, v);
      each(i) = jvp(d, p, unit);
      bent(i) = jvp(jvp(d, p, v), p, v);
      total(i) = laplacian(d, p);
    }
  }
};
TEST(Forward, InsideAKernel) { Program(ir<inside>).check({{"points", around_zero({23, 1}, {6, 3}, 1)}}, {{"N", 6}}); }

// The gradient inside of a kernel has derivatives along directions outside: the outer half of hvp. Laplacians go through loops
// and kernels.
struct outside : program<outside> {
  in<f64, N, 3> points, v;
  in<f64, 3> c;
  out<f64, N, 3> bent, by_c;
  out<f64, N> total, totals;
  constexpr void body() {
    auto normal = var(points * 0.0);
    auto height = var(sum<1>(points) * 0.0);
    for (auto [i] : kernel(N)) {
      auto p = points(i);
      auto d = sqrt(sum(p * p * c) + 2.0) * p(0);
      for (auto j : loop(3)) normal(i, j) = grad(d, p)(j);
      auto h = var(d);
      for (auto k : loop(2)) h = h * d + p(1);
      height(i) = h;
    }
    bent = jvp(normal, points, v);
    by_c = jvp(normal, c, c);
    total = laplacian(height, points);
    auto h = var(sum<1>(points * points));
    for (auto t : loop(3)) h = tanh(h) * sum<1>(points);
    totals = laplacian(h, points);
  }
};
TEST(Forward, GradientsAndLaplacians) {
  Program(ir<outside>)
      .check({{"points", around_zero({24, 1}, {4, 3}, 1)}, {"v", around_zero({24, 2}, {4, 3}, 1)}, {"c", {{3}, {.5, 1, .75}}}},
             {{"N", 4}});
}

// Directions that depend on the result, and a loop that moves by derivatives of another loop (Newton's method).
struct newton : program<newton> {
  inout<f64, 3> x;
  in<f64, 3> a;
  out<f64, 3> self;
  constexpr auto residual(Operand auto const& p) const {
    auto y = var(p);
    for (auto t : loop(2)) y = y * p;
    return y - a;
  }
  constexpr void body() {
    auto f = residual(x);
    self = jvp(f, x, f);
    for (auto t : loop(6)) {
      auto now = x + 0.0;
      auto r = residual(now);
      x -= r / jvp(r, now, x * 0.0 + 1.0);
    }
  }
};
TEST(Forward, DirectionsFromResults) {
  Program program(ir<newton>);
  const Tensors r = program.check({{"x", {{3}, {1, 2, 1.5}}}, {"a", {{3}, {2, 5, 8}}}});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(r.at("x").v[i], std::cbrt(i == 0 ? 2.0 : i == 1 ? 5.0 : 8.0), 1e-9);
}

// Sums in workgroups: reads of what other work items have written, loops around barriers, values that cross a barrier.
struct groups : program<groups> {
  in<f64, N> x, v;
  in<f64, 2, N> many;
  out<f64, N> sums, dsums;
  out<f64, 2, N> each;
  constexpr void body() {
    auto y = var(x * 0.0);
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto s = shared<f64, 8>();
      auto t = local_id(i);
      auto own = x(i) * x(i);
      s(t) = own;
      auto distance = var(1);
      for (auto step : loop(3)) {
        barrier();
        auto before = select(t >= distance, s(t - distance), 0.0);
        barrier();
        s(t) += before;
        distance = distance * 2;
      }
      barrier();
      y(i) = s(t) * own;
    }
    sums = y;
    dsums = jvp(y, x, v);
    each = jvp(y, x, many);
  }
};
TEST(Forward, Workgroups) {
  const Tensor x = around_zero({25, 1}, {11}, 1), v = around_zero({25, 2}, {11}, 1), many = around_zero({25, 3}, {2, 11}, 1);
  const Tensors r = Program(ir<groups>).run({{"x", x}, {"v", v}, {"many", many}}, {{"N", 11}});
  for (std::size_t i = 0; i < 11; ++i) {
    double sum = 0, along = 0, each[2] = {};
    for (std::size_t k = i / 8 * 8; k <= i; ++k) {
      sum += x.v[k] * x.v[k];
      along += 2 * x.v[k] * v.v[k];
      for (std::size_t d = 0; d < 2; ++d) each[d] += 2 * x.v[k] * many.v[11 * d + k];
    }
    const double own = x.v[i] * x.v[i];
    EXPECT_NEAR(r.at("sums").v[i], sum * own, 1e-14);
    EXPECT_NEAR(r.at("dsums").v[i], along * own + sum * 2 * x.v[i] * v.v[i], 1e-14);
    for (std::size_t d = 0; d < 2; ++d)
      EXPECT_NEAR(r.at("each").v[11 * d + i], each[d] * own + sum * 2 * x.v[i] * many.v[11 * d + i], 1e-14);
  }
}

// Known values: the logistic map, Newton's method for a square root, a loop with two branches, the heat equation.
struct known : program<known> {
  in<f64> r, x0, a, b;
  out<f64> x, by_r, by_x0, root, by_a, branches, by_b, energy, by_c;
  out<i32> turns;
  constexpr void body() {
    auto y = var(x0 + 0.0);
    for (auto t : loop(8)) y = r * y * (1 - y);
    x = y;
    by_r = jvp(y, r, r * 0 + 1);
    by_x0 = jvp(y, x0, r * 0 + 1);
    auto s = var(a + 0.0);
    auto n = var<i32>(0);
    for (auto t : loop(100)) {
      break_if(abs(s * s - a) < 1e-12 * a);
      s = (s + a / s) * 0.5;
      n += 1;
    }
    root = s;
    turns = n;
    by_a = jvp(s, a, r * 0 + 1);
    auto w = var(b + 0.0);
    for (auto t : loop(100)) {
      break_if(w >= 100.0);
      if (auto c = when(w > 2.0)) w = w * w;
      if (auto d = otherwise()) w = 3.0 * w + 0.5;
    }
    branches = w;
    by_b = jvp(w, b, r * 0 + 1);
    auto c = stop_gradient(r) * 0 + 0.2;
    auto at = arange<64, f64>() * (2 * 3.14159265358979323846 / 64);
    auto u = var(sin(at) + cos(3.0 * at) * 0.5);
    for (auto t : loop(500)) u = u + c * (roll<0, 1>(u) - 2.0 * u + roll<0, -1>(u));
    auto e = sum(u * u) * 0.5;
    energy = e;
    by_c = jvp(e, c, r * 0 + 1);
  }
};
TEST(Forward, KnownValues) {
  const Tensors r = Program(ir<known>).run({{"r", {{}, {3.7}}}, {"x0", {{}, {.3}}}, {"a", {{}, {10}}}, {"b", {{}, {.5}}}});
  const auto near = [&](const char* name, double v) { EXPECT_NEAR(r.at(name).v[0], v, 1e-11 * std::abs(v)) << name; };
  near("x", .735301335644524);
  near("by_r", -.566920777552661);
  near("by_x0", -17.3047006312101);
  near("root", 3.16227766016838);
  near("by_a", .158113883008419);
  near("turns", 6);
  near("branches", 1785.0625);
  near("by_b", 9886.5);
  near("energy", 2.32709825230972);
  near("by_c", -22.45448695547);
}

// Values have the bits that they have without a derivative.
struct values : program<values> {
  in<f64, N> x, v;
  out<f64, N> y, dy;
  constexpr void body() {
    auto z = var(x);
    for (auto [i] : kernel(N)) {
      auto s = var<f64>(0);
      for (auto k : loop(N)) s += exp(x(k)) / (x(i) + 3.0);
      z(i) = s;
    }
    y = z;
    dy = jvp(z, x, v);
  }
};
struct plain_values : program<plain_values> {
  in<f64, N> x;
  out<f64, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = var<f64>(0);
      for (auto k : loop(N)) s += exp(x(k)) / (x(i) + 3.0);
      y(i) = s;
    }
  }
};
TEST(Forward, ValuesKeepTheirBits) {
  const Tensor x = around_zero({26, 1}, {13}, 1);
  const Tensors with = Program(ir<values>).check({{"x", x}, {"v", x}}, {{"N", 13}});
  EXPECT_EQ(with.at("y").v, Program(ir<plain_values>).run({{"x", x}}, {{"N", 13}}).at("y").v);
  Program program(ir<values>);
  EXPECT_EQ(program.kernels(), 1);
}

// Directions of the results of kernels and loops, which their derivatives need not go through.
struct by_results : program<by_results> {
  in<f64, N> x, v;
  out<f64, N> plain, behind, second, by_loop;
  constexpr void body() {
    auto s = var(x);
    for (auto [i] : kernel(N)) s(i) = s(i) * s(i) + x(i);
    plain = jvp(sin(s) * s, s, v);
    auto t = var(x * 0.0);
    for (auto [i] : kernel(N)) t(i) = sin(s(i)) * s(i);
    auto d = jvp(t, s, v);
    behind = d;
    second = jvp(d, s, v);
    auto u = var(x);
    for (auto k : loop(2)) u = u * 0.5 + sin(u);
    by_loop = jvp(u * s, wrt(u, v), wrt(s, x));
  }
};
TEST(Forward, ByResultsOfScopes) {
  Program(ir<by_results>).check({{"x", around_zero({27, 1}, {5}, 1)}, {"v", around_zero({27, 2}, {5}, 1)}}, {{"N", 5}});
}

struct too_many : program<too_many> {
  in<f64, N> x;
  in<f64, K, N> list;
  out<f64, K, N> dy;
  constexpr void body() {
    auto z = var(x);
    for (auto [i] : kernel(N)) z(i) = x(i) * x(i);
    dy = jvp(z, x, list);
  }
};
TEST(Forward, Errors) {
  const std::string e = grad_test::error_of(ir<too_many>);
  EXPECT_NE(e.find("E-grad: expected a constant number of at most 64 directions"), std::string::npos) << e;
}

}  // namespace

}  // namespace forward_scopes_test
