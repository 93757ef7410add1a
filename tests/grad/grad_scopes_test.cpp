// Gradients inside of scopes: in loops around tensors, in kernels, in kernels of workgroups; and the errors of those that are
// refused.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

using namespace kiln;
using grad_test::around_zero;
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
  out<f64, N> g;
  constexpr void body() {
    auto y = var(x);
    for (auto t : loop(5)) y = tanh(y) * 1.5;
    g = grad(sum(y * y), x);
  }
};
struct through_kernel : program<through_kernel> {
  in<f64, N> x;
  inout<f64, N> y;
  out<f64, N> g;
  constexpr void body() {
    for (auto [i] : kernel(N)) y(i) = x(i) * x(i);
    g = jvp(y, x, x);
  }
};
struct through_array : program<through_array> {
  in<f64, N> x;
  out<f64, N> g;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = local<f64, 4>();
      auto p = x(i);
      a(1) = p * p;
      a(2) = a(1) * p;
      g(i) = grad(a(2) + 0.0, p);
    }
  }
};
TEST(Grad, Errors) {
  for (const std::string& e :
       {grad_test::error_of(ir<through_loop>), grad_test::error_of(ir<through_kernel>), grad_test::error_of(ir<through_array>)})
    EXPECT_NE(e.find("E-grad: expected no loop or kernel"), std::string::npos) << e;
  EXPECT_NE(grad_test::error_of(ir<without_path>).find("E-grad"), std::string::npos) << grad_test::error_of(ir<without_path>);
  EXPECT_NE(grad_test::error_of(ir<only_integers>).find("E-grad"), std::string::npos) << grad_test::error_of(ir<only_integers>);
  EXPECT_NE(grad_test::error_of(ir<across>).find("barrier"), std::string::npos) << grad_test::error_of(ir<across>);
  EXPECT_NE(grad_test::error_of(ir<of_literal>).find("`independent`"), std::string::npos)
      << grad_test::error_of(ir<of_literal>);
  EXPECT_NE(grad_test::error_of(ir<bits>).find("stop_gradient"), std::string::npos) << grad_test::error_of(ir<bits>);
}

}  // namespace
