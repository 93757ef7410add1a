// Gradients inside of scopes: in loops around tensors, in kernels, in kernels of workgroups; and the errors of those that are
// refused.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <cmath>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace grad_scopes_test {

using namespace kiln;
using grad_test::around_zero;
using grad_test::expect_near;
using grad_test::Program;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;

// Gradients in a loop around tensors: each turn takes the gradient of what the turn computed.
struct descent : program<descent> {
  inout<f64, N> w;
  in<i32> turns;
  out<f64> last;
  constexpr void body() {
    auto best = var<f64>(0);
    for (auto t : loop(turns)) {
      auto loss = sum(cos(w) + w * w * 0.25);
      auto g = grad(loss, w);
      w -= 0.5 * g;
      best = loss;
    }
    last = best;
  }
};
TEST(Grad, InsideALoopTurn) {
  Program program(ir<descent>);
  for (const double turns : {0.0, 1.0, 9.0})
    program.check({{"w", around_zero({10, 1}, {4}, 3)}, {"turns", {{}, {turns}}}}, {{"N", 4}});
}

// Normals of a distance function, in a kernel: of boxes that repeat, and of a sphere with a condition.
struct normals : program<normals> {
  in<f64, N, 3> points;
  out<f64, N> distance, element;
  out<f64, N, 3> normal, marched;
  constexpr auto scene(Operand auto const& p) const {
    auto cell = p - 4.0 * round(p * 0.25);
    auto box = max(max(abs(cell(0)) - 1, abs(cell(1)) - 0.5), abs(cell(2)) - 0.75);
    auto sphere = sqrt(sum(p * p)) - 2;
    return min(box, select(sphere > 0, sphere, sphere * 2));
  }
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto p = points(i);
      auto d = scene(p);
      distance(i) = d;
      normal(i) = grad(d, p);
      auto first = points(i, 0);
      element(i) = grad(first * first * first, first);
      auto q = var(points(i));
      for (auto t : loop(3)) {
        auto now = q + 0.0;
        auto far = scene(now);
        q -= 0.5 * far * grad(far, now);
      }
      marched(i) = q;
    }
  }
};
TEST(Grad, InsideAKernelTurn) {
  Program program(ir<normals>);
  program.check({{"points", around_zero({11, 1}, {40, 3}, 6)}}, {{"N", 40}});
}

// Other values of a kernel: a tensor of outside, a variable under a condition, a value around a kernel with atomics, and a
// value of another work item of the workgroup, with respect to which the result of this one is.
struct kernels : program<kernels> {
  in<f64, 3> w;
  in<f64, N, 3> x;
  inout<f64> total;
  out<f64, N, 3> by_w, by_p;
  out<f64> by_s;
  constexpr void body() {
    auto s = sum(w);
    for (auto [i] : kernel(N)) {
      auto p = x(i);
      auto d = var<f64>(0);
      d = sum(p * w * w);
      by_w(i) = grad(d, w);
      if (auto c = when(d > 0.25)) d = sqrt(d);
      by_p(i) = grad(d, p);
      total().atomic_add(d);
    }
    by_s = grad(total + s * s, s);
  }
};
struct mirrored : program<mirrored> {
  in<f64, 32> x;
  out<f64, 32> g;
  constexpr void body() {
    for (auto [i] : kernel(32).workgroup<16>()) {
      auto shared_x = shared<f64, 16>();
      auto t = local_id(i);
      shared_x(t) = x(i);
      barrier();
      auto other = shared_x(15 - t);
      g(i) = grad(other * other * x(i), other);
    }
  }
};
// A path from x through values that cross a barrier.
struct across : program<across> {
  in<f64, 32> x;
  out<f64, 32> g;
  constexpr void body() {
    for (auto [i] : kernel(32).workgroup<16>()) {
      auto mine = shared<f64, 16>();
      auto a = x(i);
      auto b = a * a;
      mine(local_id(i)) = b;
      barrier();
      g(i) = grad(b * a, a);
    }
  }
};
// The rate is carried, and does not depend on w.
struct decaying : program<decaying> {
  in<f64, 3> w, x;
  out<f64, 3> y;
  constexpr void body() {
    auto rate = var<f64>(1.0);
    auto steps = var<f64>(0.0);
    auto total = var<f64, 3>(0.0);
    for ([[maybe_unused]] auto k : loop(2)) {
      auto d = w - x;
      total += grad(sum(d * d) * rate, w);
      rate = rate * 0.5;
      steps += cast<f64>(sum(d) > 0);
    }
    y = total + steps;
  }
};
struct of_literal : program<of_literal> {
  in<f64, 3> x;
  out<f64> g;
  constexpr void body() {
    auto t = var(1.0);
    g = grad(sum(x) * t, t);
  }
};
TEST(Grad, CarriedValuesCountOneByOne) {
  const Tensors r = Program(ir<decaying>).run({{"w", {{3}, {1, 2, 4}}}, {"x", {{3}, {0, 0, 1}}}});
  EXPECT_EQ(r.at("y").v, (std::vector<double>{2 + 1 + 2, 4 + 2 + 2, 6 + 3 + 2}));
}

TEST(Grad, KernelsAndWorkgroups) {
  Program(ir<kernels>)
      .check({{"w", {{3}, {.5, -1, .75}}}, {"x", around_zero({12, 1}, {9, 3}, 2)}, {"total", {{}, {1}}}}, {{"N", 9}});
  const grad_test::Tensor x = around_zero({12, 2}, {32});
  const Tensors r = Program(ir<mirrored>).run({{"x", x}});
  for (std::size_t i = 0; i < 32; ++i) EXPECT_NEAR(r.at("g").v[i], 2 * x.v[i / 16 * 16 + 15 - i % 16] * x.v[i], 1e-15);
}

// Errors name the place, what was expected and what was found.
struct without_path : program<without_path> {
  inout<f64, 3> w;
  out<f64, 3> g;
  constexpr void body() {
    auto loss = sum(w * w);
    w += 1;
    g = grad(loss, w);
  }
};
struct only_integers : program<only_integers> {
  in<f64, 3> x;
  out<f64, 3> g;
  constexpr void body() {
    auto places = cast<i32>(x);
    g = grad(sum(cast<f64>(places * places)), x);
  }
};
struct bits : program<bits> {
  in<f64, 3> x;
  out<f64, 3> g;
  constexpr void body() {
    auto b = bitcast<u64>(x);
    g = grad(sum(bitcast<f64>(b ^ 1) * x), x);
  }
};
struct through_loop : program<through_loop> {
  in<f64, N> x;
  in<i32> turns;
  out<f64, N> g;
  constexpr void body() {
    auto y = var(x);
    for (auto t : loop(turns)) y = tanh(y) * 1.5;
    g = grad(sum(y * y), x);
  }
};
struct through_kernel : program<through_kernel> {
  in<f64, N> x;
  inout<f64, N> y;
  out<f64, N> g;
  constexpr void body() {
    for (auto [i] : kernel(N))
      for (auto k : loop(i)) y(i) += x(i) * x(k);
    g = grad(sum(y), x);
  }
};
// A path through elements that the same work item has written: of a local array, and of a tensor. An element of a tensor of
// which a result depends on as a whole. Functions that are made of the bits of floats.
struct own_elements : program<own_elements> {
  in<f64, N> x;
  in<f64, 3, 3> w;
  inout<f64, N> y;
  out<f64, N> by_array, by_element, by_bits;
  out<f64> one, along_one;
  out<f64, 3> row;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = local<f64, 4>();
      auto p = x(i);
      a(1) = p * p;
      a(2) = a(1) * p;
      if (auto c = when(p > 0.0)) a(i % 4) = p;
      by_array(i) = grad(a(2) + a(1), p);
      y(i) = y(i) * p;
      y(i) = y(i) + p * p;
      by_element(i) = grad(y(i) * y(i), p);
    }
    auto loss = sum(w * w * w);
    one = grad(loss, w(1, 1));
    row = grad(loss, w(2));
    along_one = jvp(loss, w(1, 1), w(0, 0));
    auto z = x + 0.0;
    auto parts = frexp(z);
    auto bits = sum(copysign(z, x - 0.25) + ldexp(z * z, 3) + parts.fraction * parts.fraction);
    by_bits = grad(bits, z);
  }
};
TEST(Grad, OwnElements) {
  const grad_test::Tensor x = around_zero({13, 1}, {9}, 2), y = around_zero({13, 3}, {9}, 1);
  const Tensors in{{"x", x}, {"w", around_zero({13, 2}, {3, 3}, 1)}, {"y", y}};
  const Tensors r = Program(ir<own_elements>).run(in, {{"N", 9}});
  for (std::size_t i = 0; i < 9; ++i) {
    const double p = x.v[i];
    const bool own = p > 0 && (i % 4 == 1 || i % 4 == 2);
    EXPECT_NEAR(r.at("by_array").v[i], own ? (i % 4 == 2 ? 1 + 2 * p : 3 * p * p + 1) : 3 * p * p + 2 * p, 1e-14) << i;
    EXPECT_NEAR(r.at("by_element").v[i], 2 * (y.v[i] * p + p * p) * (y.v[i] + 2 * p), 1e-14);
    int exponent = 0;
    const double f = std::frexp(p, &exponent), sign = (p > 0) == (p - 0.25 > 0) ? 1 : -1;
    EXPECT_NEAR(r.at("by_bits").v[i], sign + 16 * p + 2 * f * std::ldexp(1.0, -exponent), 1e-13) << i;
  }
  const std::vector<double>& w = in.at("w").v;
  EXPECT_NEAR(r.at("one").v[0], 3 * w[4] * w[4], 1e-15);
  EXPECT_NEAR(r.at("along_one").v[0], 3 * w[4] * w[4] * w[0], 1e-15);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(r.at("row").v[k], 3 * w[6 + k] * w[6 + k], 1e-15);
}
// The same of a tensor that may be empty.
struct element_of_any_extent : program<element_of_any_extent> {
  in<f64, N> x;
  in<i32> k;
  out<f64> second, at, along;
  constexpr void body() {
    auto loss = sum(x * x * x);
    second = grad(loss, x(1));
    at = grad(loss, x(k));
    along = jvp(loss, x(k), x(1));
  }
};
TEST(Grad, ElementsOfTensorsThatMayBeEmpty) {
  Program p(ir<element_of_any_extent>);
  const Tensors r = p.run({{"x", {{3}, {1, 2, 3}}}, {"k", {{}, {7}}}}, {{"N", 3}});
  EXPECT_EQ(r.at("second").v[0], 12);
  EXPECT_EQ(r.at("at").v[0], 27);
  EXPECT_EQ(r.at("along").v[0], 54);
  const Tensors none = p.run({{"x", {{0}, {}}}, {"k", {{}, {7}}}}, {{"N", 0}});
  EXPECT_EQ(none.at("second").v[0] + none.at("at").v[0] + none.at("along").v[0], 0);
}
// What earlier iterations made depends on x. It is no path if it counts as a constant.
template <bool Constant>
struct by_data : program<by_data<Constant>> {
  in<f64, 3> x;
  inout<f64, 3> w;
  out<f64, 3> by_x;
  constexpr void body() {
    for ([[maybe_unused]] auto t : this->loop(2)) {
      if constexpr (Constant) {
        auto c = stop_gradient(w);
        by_x = grad(sum(c * c * x), x);
      } else {
        by_x = grad(sum(w * w * x), x);
      }
      w += x;
    }
  }
};
TEST(Grad, EarlierIterationsMayBeConstants) {
  const Tensors r = Program(ir<by_data<true>>).run({{"x", {{3}, {1, 2, 3}}}, {"w", {{3}, {1, 1, -3}}}});
  expect_near(r.at("by_x"), {4, 9, 0}, 0, "by_x");
  EXPECT_NE(grad_test::error_of(ir<by_data<false>>).find("`stop_gradient`"), std::string::npos);
}
// Writes of rows at one place.
struct rows_at_places : program<rows_at_places> {
  in<f64, N, 2> x;
  in<f64, 2> row;
  in<f64> s;
  in<i32> k;
  out<f64, N, 2> by_x, second;
  out<f64, 2> by_row;
  out<f64> by_s;
  constexpr void body() {
    auto t = var(x * x);
    t(2) = row * row;
    t(k) = s;
    t(1) = 2 * t(1);
    const auto loss = sum(t * t);
    auto [a, b, c] = grad(loss, x, row, s);
    by_x = a;
    by_row = b;
    by_s = c;
    second = grad(sum(a), x);
  }
};
TEST(Grad, RowsAtPlaces) {
  const dsl_test::Tensor x{{3, 2}, {1, 2, 3, 4, 5, 6}}, row{{2}, {7, 9}}, s{{}, {5}};
  Program p(ir<rows_at_places>);
  for (const double k : {0.0, -3.0}) {  // outside: the nearest row
    const Tensors r = p.run({{"x", x}, {"row", row}, {"s", s}, {"k", {{}, {k}}}}, {{"N", 3}});
    expect_near(r.at("by_x"), {0, 0, 432, 1024, 0, 0}, 0, "by_x");
    expect_near(r.at("second"), {0, 0, 432, 768, 0, 0}, 0, "second");
    expect_near(r.at("by_row"), {1372, 2916}, 0, "by_row");
    expect_near(r.at("by_s"), {20}, 0, "by_s");
  }
  for (const double k : {2.0, 7.0}) {
    const Tensors r = p.run({{"x", x}, {"row", row}, {"s", s}, {"k", {{}, {k}}}}, {{"N", 3}});
    expect_near(r.at("by_x"), {4, 32, 432, 1024, 0, 0}, 0, "by_x");
    expect_near(r.at("by_row"), {0, 0}, 0, "by_row");
    expect_near(r.at("by_s"), {20}, 0, "by_s");
  }
  const Tensors none = p.run({{"x", {{0, 2}, {}}}, {"row", row}, {"s", s}, {"k", {{}, {0}}}}, {{"N", 0}});
  expect_near(none.at("by_row"), {0, 0}, 0, "by_row");
  const Tensors one = p.run({{"x", {{1, 2}, {1, 2}}}, {"row", row}, {"s", s}, {"k", {{}, {0}}}}, {{"N", 1}});
  expect_near(one.at("by_s"), {80}, 0, "by_s");
}
// One value has derivatives by a tensor that was written, and by the row that was written to it. Second derivatives, too.
struct by_written : program<by_written> {
  in<f64, N, 2> x;
  in<f64, 2> row;
  in<i32> k;
  out<f64, N, 2> by_t, by_x, second_t;
  out<f64, 2> by_row, second_row;
  out<f64, N> by_element, by_p, second_p;
  constexpr void body() {
    auto t = var(x * x);
    t(k) += row;
    t(1) *= row;
    const auto loss = sum(t * t * t);
    auto [a, b, c] = grad(loss, t, row, x);
    by_t = a;
    by_row = b;
    by_x = c;
    second_t = grad(sum(a), t);
    second_row = grad(sum(a), row);
    auto y = var(x);
    for (auto [i] : kernel(N)) {
      auto p = x(i, 0);
      y(i, 1) = p * p;
      auto v = y(i, 1);
      auto [d, e] = grad(v * v, v, p);
      by_element(i) = d;
      by_p(i) = e;
      second_p(i) = grad(d, p);
    }
  }
};
TEST(Grad, ByWrittenValues) {
  const Tensors r =
      Program(ir<by_written>).run({{"x", {{3, 2}, {1, 2, 3, 4, 5, 6}}}, {"row", {{2}, {7, 9}}}, {"k", {{}, {2}}}}, {{"N", 3}});
  const std::vector<double> t = {1, 4, 63, 144, 32, 45};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(r.at("by_t").v[i], 3 * t[i] * t[i]);
    EXPECT_EQ(r.at("second_t").v[i], 6 * t[i]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const double x = i == 0 ? 3 : 4, m = i == 0 ? 7 : 9;
    EXPECT_EQ(r.at("by_row").v[i], 3 * t[4 + i] * t[4 + i] + 3 * t[2 + i] * t[2 + i] * x * x);
    EXPECT_EQ(r.at("second_row").v[i], 6 * t[4 + i] + 6 * t[2 + i] * x * x);
    EXPECT_EQ(r.at("by_x").v[2 + i], 3 * t[2 + i] * t[2 + i] * m * 2 * x);
    EXPECT_EQ(r.at("by_x").v[4 + i], 3 * t[4 + i] * t[4 + i] * 2 * (5.0 + static_cast<double>(i)));
  }
  expect_near(r.at("by_element"), {2, 18, 50}, 0, "by_element");
  expect_near(r.at("by_p"), {4, 108, 500}, 0, "by_p");
  expect_near(r.at("second_p"), {4, 12, 20}, 0, "second_p");
}
TEST(Grad, Errors) {
  for (const std::string& e : {grad_test::error_of(ir<through_loop>), grad_test::error_of(ir<through_kernel>)})
    EXPECT_NE(e.find("E-grad: expected no loop or kernel"), std::string::npos) << e;
  EXPECT_NE(grad_test::error_of(ir<without_path>).find("E-grad"), std::string::npos) << grad_test::error_of(ir<without_path>);
  EXPECT_NE(grad_test::error_of(ir<only_integers>).find("E-grad"), std::string::npos) << grad_test::error_of(ir<only_integers>);
  EXPECT_NE(grad_test::error_of(ir<across>).find("barrier"), std::string::npos) << grad_test::error_of(ir<across>);
  EXPECT_NE(grad_test::error_of(ir<of_literal>).find("`independent`"), std::string::npos)
      << grad_test::error_of(ir<of_literal>);
  EXPECT_NE(grad_test::error_of(ir<bits>).find("stop_gradient"), std::string::npos) << grad_test::error_of(ir<bits>);
}

}  // namespace

}  // namespace grad_scopes_test
