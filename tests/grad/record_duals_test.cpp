// The dual-number evaluator, against closed forms and against differences of the values that it gives itself.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "tests/grad/record_duals.h"

using namespace kiln;
using grad_test::Tensor;
using grad_test::Tensors;

namespace {

inline constexpr dim<"N"> N;

struct many : program<many> {
  in<f64, N, 3> x;
  in<f64, 3> w;
  in<f64> c;
  in<f64, 4, 3> directions;
  out<f64, N, 3> gx, back, through;
  out<f64, 3> gw, second, at_once, chosen;
  out<f64> gc, value, loss;
  out<f64, N> along;
  out<f64, 4, N> along_each;
  constexpr void body() {
    auto y = matmul(x, w);
    auto total = sum(tanh(y) * c);
    auto [a, b, d] = grad(total, x, w, c);
    gx = a;
    gw = b;
    gc = d;
    loss = total;
    auto both = jvp(y, wrt(w, w), wrt(x, x));
    along = jvp(y, w, w * 2) + both;
    along_each = jvp(y, w, directions);
    second = hvp(total, w, w);
    auto [v, g] = value_and_grad([&](auto p) { return sum(p * p * c); }, w);
    value = v;
    at_once = g;
    back = vjp(y, x, y);
    chosen = grad(sum(custom_vjp(exp(w), [&](auto ct) { return ct * w; }, w)), w) + unused_is_zero(grad(total, b));
    auto rounded = straight_through(round(x), x);
    auto again = checkpoint([&](auto q) { return tanh(q * c); }, x);
    through = rounded * again + independent(x) * stop_gradient(x);
  }
};

Tensors arguments() {
  return {{"x", {{2, 3}, {.1, .2, -.3, .4, .5, -.6}}},
          {"w", {{3}, {.7, -.2, .5}}},
          {"c", {{}, {1.5}}},
          {"directions", {{4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}}}};
}

TEST(Dual, DerivativesInClosedForm) {
  const Tensors r = grad_test::evaluate(ir<many>, arguments(), {{"N", 2}}), in = arguments();
  double second[3] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const double* x = &in.at("x").v[3 * i];
    const double* w = in.at("w").v.data();
    const double y = x[0] * w[0] + x[1] * w[1] + x[2] * w[2], t = std::tanh(y), slope = 1.5 * (1 - t * t);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(r.at("gx").v[3 * i + k], slope * w[k], 1e-14);
      EXPECT_NEAR(r.at("back").v[3 * i + k], y * w[k], 1e-14);
      second[k] += -2 * t * slope * y * x[k];
      EXPECT_NEAR(r.at("along_each").v[2 * k + i], x[k], 1e-14);
    }
    EXPECT_NEAR(r.at("along").v[i], 4 * y, 1e-14);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(r.at("second").v[k], second[k], 1e-14);
    EXPECT_NEAR(r.at("at_once").v[k], 3 * in.at("w").v[k], 1e-14);
    EXPECT_NEAR(r.at("chosen").v[k], in.at("w").v[k], 1e-14);
  }
}

// Derivatives of all results, first and second derivatives among them, against differences. Results that depend on marks have
// other derivatives than their values.
TEST(Dual, DirectionalAgainstDifferences) {
  constexpr double h = 1e-6;
  for (const auto& [name, t] : arguments())
    for (std::size_t i = 0; i < t.v.size(); ++i) {
      Tensors direction, low = arguments(), high = arguments();
      direction[name] = dsl_test::make(t.shape);
      direction[name].v[i] = 1;
      low[name].v[i] -= h;
      high[name].v[i] += h;
      const Tensors got = grad_test::directional(ir<many>, arguments(), direction, {{"N", 2}}),
                    below = grad_test::evaluate(ir<many>, low, {{"N", 2}}),
                    above = grad_test::evaluate(ir<many>, high, {{"N", 2}});
      for (const auto& [result, d] : got)
        for (std::size_t k = 0; k < d.v.size() && result != "through"; ++k)
          EXPECT_NEAR(d.v[k], (above.at(result).v[k] - below.at(result).v[k]) / (2 * h), 1e-8) << result << " by " << name;
    }
}

TEST(Dual, Marks) {
  const Tensors in = arguments();
  const auto d = grad_test::directional(ir<many>, in, {{"x", {{2, 3}, {0, 0, 0, 0, 0, 1}}}}, {{"N", 2}}).at("through");
  const double x = -.6, t = std::tanh(1.5 * x);
  EXPECT_NEAR(d.v[5], 1 * t + std::nearbyint(x) * 1.5 * (1 - t * t) + x, 1e-14);
  EXPECT_EQ(d.v[0], 0);
}

// Loops, conditions, variables and writes of elements: y(i) = product of 1 + x(k) over k <= i, without every second factor.
struct control : program<control> {
  in<f64, N> x;
  out<f64, N> y;
  out<f64> total;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto p = var<f64>(1);
      for (auto k : loop(N)) {
        break_if(k > i);
        continue_if(k % 2 == 1);
        p = p * (1 + x(k));
      }
      if (auto c = when(p > 1.5)) y(i) = p;
      if (auto d = otherwise()) y(i) = p * x(i);
      total().atomic_add(p);
    }
  }
};

TEST(Dual, Scopes) {
  const Tensors in{{"x", {{3}, {.2, 9, .5}}}};
  const Tensors r = grad_test::evaluate(ir<control>, in, {{"N", 3}});
  EXPECT_NEAR(r.at("y").v[1], 1.2 * 9, 1e-14);
  EXPECT_NEAR(r.at("y").v[2], 1.8, 1e-14);
  EXPECT_NEAR(r.at("total").v[0], 1.2 + 1.2 + 1.8, 1e-14);
  const Tensors d = grad_test::directional(ir<control>, in, {{"x", {{3}, {1, 0, 0}}}}, {{"N", 3}});
  EXPECT_NEAR(d.at("y").v[0], 1.2 + .2, 1e-14);
  EXPECT_NEAR(d.at("y").v[1], 9, 1e-14);
  EXPECT_NEAR(d.at("y").v[2], 1.5, 1e-14);
  EXPECT_NEAR(d.at("total").v[0], 3.5, 1e-14);
}

}  // namespace
