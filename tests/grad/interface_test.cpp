// The interface of derivatives: what a name means, marks, custom derivatives, modules, helper functions, scopes and kernels.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/run.h"
#include "tests/grad/threefry.h"

namespace interface_test {

using namespace kiln;
using grad_test::around_zero;
using grad_test::expect_near;
using grad_test::Program;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;

struct names : program<names> {
  in<f64> x;
  inout<f64> w;
  out<f64> same, apart, of_x, before, after;
  constexpr void body() {
    auto p = var(x);
    same = grad(p * p + x, p);
    auto q = independent(x);
    auto y = q * q + x;
    apart = grad(y, q);
    of_x = grad(y, x);
    before = grad(w * w, w);
    w = w + 1;
    after = grad(w * w * w, w);
  }
};
TEST(Grad, IndependentNames) {
  Program program(ir<names>);
  const Tensors r = program.check({{"x", {{}, {3}}}, {"w", {{}, {2}}}});
  EXPECT_EQ(r.at("same").v[0], 7);
  EXPECT_EQ(r.at("apart").v[0], 6);
  EXPECT_EQ(r.at("of_x").v[0], 7);
  EXPECT_EQ(r.at("before").v[0], 4);
  EXPECT_EQ(r.at("after").v[0], 27);
}

// x is used three times. The later use comes first, and (1 + 1e16) - 1e16 is 0, but 1 + (1e16 - 1e16) is 1.
struct contributions : program<contributions> {
  in<f64> x, a, b, c;
  out<f64> d;
  constexpr void body() {
    auto first = x * a;
    auto second = x * b;
    auto third = x * c;
    d = grad(first + second + third, x);
  }
};
TEST(Grad, OrderOfContributions) {
  const auto sum = [](double a, double b, double c) {
    const Tensors in{{"x", {{}, {1}}}, {"a", {{}, {a}}}, {"b", {{}, {b}}}, {"c", {{}, {c}}}};
    return Program(ir<contributions>).run(in).at("d").v[0];
  };
  EXPECT_EQ(sum(-1e16, 1e16, 1), 0);
  EXPECT_EQ(sum(1, 1e16, -1e16), 1);
}

struct marks : program<marks> {
  in<f64, 4> x;
  out<f64, 4> stopped, through, twice;
  constexpr void body() {
    stopped = grad(sum(stop_gradient(x * x) * x), x);
    through = grad(sum(straight_through(round(x), x) * x), x);
    auto clamped = straight_through(clamp(x, 0, 1), x);
    twice = hvp(sum(clamped * clamped * clamped), x, x);
  }
};
TEST(Grad, StraightThrough) {
  Program program(ir<marks>);
  const Tensors r = program.check({{"x", {{4}, {-1.25, .5, .75, 2.5}}}});
  expect_near(r.at("stopped"), {1.5625, .25, .5625, 6.25}, 0, "stop_gradient");
  expect_near(r.at("through"), {-2.25, .5, 1.75, 4.5}, 0, "straight_through");
}

// A custom derivative of log(sum(exp(x))). jvp transposes the function.
struct customs : program<customs> {
  in<f64, N> x, v;
  in<f64> w;
  out<f64, N> dx, second, along;
  out<f64> value, dw;
  constexpr void body() {
    auto plain = log(sum(exp(x))) * w;
    auto y = custom_vjp(
        plain,
        [&](auto c) {
          auto p = softmax<0>(x);
          auto logs = log(sum(exp(x)));
          return pack(c * w * p, c * logs);
        },
        x, w);
    value = y;
    auto [gx, gw] = grad(y * y, x, w);
    dx = gx;
    dw = gw;
    second = jvp(gx, x, v);
    auto t = custom_vjp(sin(x), [&](auto c) { return c * cos(x); }, x);
    along = jvp(t, x, v);
  }
};
// A function that is not linear, for which there is no jvp: it clips the cotangent.
struct clips : program<clips> {
  in<f64, N> x, v;
  out<f64, N> d;
  constexpr void body() {
    auto y = custom_vjp(x * 1.0, [&](auto c) { return clamp(c, -0.5, 0.5); }, x);
    d = grad(sum(y * v), x);
  }
};
TEST(Grad, ClippedCotangent) {
  const Tensors r = Program(ir<clips>).run({{"x", {{3}, {1, 2, 3}}}, {"v", {{3}, {.25, -2, 1}}}}, {{"N", 3}});
  expect_near(r.at("d"), {.25, -.5, .5}, 0, "clipped");
}
TEST(Grad, CustomRule) {
  Program program(ir<customs>);
  const Tensors in{{"x", {{3}, {.3, -.2, 1.1}}}, {"v", {{3}, {.25, -2, 1}}}, {"w", {{}, {1.5}}}};
  const Tensors r = Program(ir<customs>).run(in, {{"N", 3}});
  double sum = 0;
  for (const double x : in.at("x").v) sum += std::exp(x);
  const double logs = std::log(sum);
  std::vector<double> dx, along;
  for (std::size_t i = 0; i < 3; ++i) {
    dx.push_back(2 * logs * 1.5 * 1.5 * std::exp(in.at("x").v[i]) / sum);
    along.push_back(in.at("v").v[i] * std::cos(in.at("x").v[i]));
  }
  EXPECT_NEAR(r.at("value").v[0], logs * 1.5, 1e-14);
  EXPECT_NEAR(r.at("dw").v[0], 2 * logs * 1.5 * logs, 1e-14);
  expect_near(r.at("dx"), dx, 1e-14, "custom");
  expect_near(r.at("along"), along, 1e-14, "custom, forward");
  for (const std::int64_t n : {0, 1, 4})
    program.check({{"x", around_zero({1, 1}, {n})}, {"v", around_zero({1, 2}, {n})}, {"w", {{}, {.7}}}}, {{"N", n}});
}

template <bool Again>
struct recomputed : program<recomputed<Again>> {
  in<f64, 5, 8> x;
  in<f64, 8, 8> w;
  out<f64> loss;
  out<f64, 5, 8> dx;
  out<f64, 8, 8> dw;
  constexpr void body() {
    auto f = [&](auto h) { return tanh(matmul(sin(matmul(h, w)), w)); };
    auto y = x * 2.0;
    if constexpr (Again)
      loss = sum(checkpoint(f, checkpoint(f, y)));
    else
      loss = sum(f(f(y)));
    auto l = loss * 1.0;
    auto [gx, gw] = grad(l, x, w);
    dx = gx;
    dw = gw;
  }
};
TEST(Grad, CheckpointSameBits) {
  const Tensors in{{"x", around_zero({1, 1}, {5, 8})}, {"w", around_zero({1, 2}, {8, 8})}};
  const Tensors kept = Program(ir<recomputed<false>>).run(in), again = Program(ir<recomputed<true>>).run(in);
  for (const auto* name : {"loss", "dx", "dw"}) EXPECT_EQ(kept.at(name).v, again.at(name).v) << name;
}

// A sum over many rows, whose order must not depend on threads; extents that are symbols, also 0, 1 and odd ones.
struct fit : program<fit> {
  in<f64, N, 3> x;
  in<f64, N> y;
  inout<f64, 3> w;
  inout<f64> b;
  out<f64> loss;
  out<f64, 3> gw, hw, zero;
  constexpr void body() {
    auto [value, g] = value_and_grad([&](auto p) { return mean((matmul(x, p) + b - y) * (matmul(x, p) + b - y)); }, w);
    auto e = matmul(x, w) + b - y;
    auto l = mean(e * e);
    loss = value;
    gw = g;
    hw = hvp(l, w, w);
    zero = unused_is_zero(grad(sum(y * y), w));
    auto [dw, db] = grad(l, w, b);
    w -= 0.1 * dw;
    b -= 0.1 * db;
  }
};
Tensors points(std::int64_t n) {
  return {{"x", around_zero({8, 1}, {n, 3})}, {"y", around_zero({8, 2}, {n})}, {"w", {{3}, {.5, -.5, 1}}}, {"b", {{}, {.25}}}};
}
TEST(Grad, SymbolicExtents) {
  Program program(ir<fit>);
  for (const std::int64_t n : {1, 5, 17}) program.check(points(n), {{"N", n}});
}
TEST(Grad, ThreadsSameBits) { Program(ir<fit>).run(points(40001), {{"N", 40001}}); }

struct affine {
  inout<f64, 3, 3> w;
  in<f64, 3> scale;
  inout<f64, 3> b;
  inout<i32> calls;
  constexpr auto operator()(Operand auto const& x) const { return (matmul(x, w) + b) * scale; }
};
struct block {
  affine first, second;
  constexpr auto operator()(Operand auto const& x) const { return second(tanh(first(x))); }
};
// A helper function that takes the gradient of whatever it gets.
constexpr auto descend(auto& parameter, Operand auto const& loss, double rate) {
  auto g = grad(loss, parameter);
  parameter -= rate * g;
  return sum(g * g);
}
struct modules : program<modules> {
  block model;
  in<f64, 2, 3> x;
  in<bool> trains;
  out<f64> loss, squares;
  out<f64, 3> gb;
  constexpr void body() {
    auto l = sum(model(x) * model(x));
    loss = l;
    auto g = grad(l, model);
    gb = g(model.first.b) + g(model.second.b);
    auto s = var<f64>(0);
    if (auto c = when(trains)) {
      s = descend(model.first.w, l, 0.01);
      model.second.w -= 0.01 * g(model.second.w);
      auto both = l + sum(model.second.b * model.second.b);
      auto gb2 = grad(both, model.second.b);
      for (auto [i] : kernel(3)) model.second.b(i) -= 0.01 * gb2(i);
    }
    squares = s;
  }
};
TEST(Grad, Modules) {
  Program program(ir<modules>);
  for (const double trains : {0.0, 1.0})
    program.check({{"model_first_w", around_zero({9, 1}, {3, 3})},
                   {"model_first_scale", around_zero({9, 2}, {3})},
                   {"model_first_b", around_zero({9, 3}, {3})},
                   {"model_first_calls", {{}, {1}}},
                   {"model_second_w", around_zero({9, 4}, {3, 3})},
                   {"model_second_scale", around_zero({9, 5}, {3})},
                   {"model_second_b", around_zero({9, 6}, {3})},
                   {"model_second_calls", {{}, {2}}},
                   {"x", around_zero({9, 7}, {2, 3})},
                   {"trains", {{}, {trains}}}});
}

// Weights of f32, arithmetic of bf16: the cast brings gradients of f32. The evaluator by dual numbers does not round.
struct mixed : program<mixed> {
  inout<f32, 4, 3> w;
  in<bf16, N, 4> x;
  out<f32> loss;
  out<f32, 4, 3> dw;
  out<bf16, N, 4> dx;
  constexpr void body() {
    auto y = matmul(x, cast<bf16>(w));
    auto l = sum(cast<f32>(y * y));
    loss = l;
    auto [gw, gx] = grad(l, w, x);
    dw = gw;
    dx = gx;
  }
};
TEST(Grad, MixedPrecision) {
  Program program(ir<mixed>);
  for (const std::int64_t n : {1, 6})
    program.check({{"w", around_zero({13, 1}, {4, 3})}, {"x", around_zero({13, 2}, {n, 4})}}, {{"N", n}}, 0.03);
}

}  // namespace

}  // namespace interface_test
