// A least-squares fit of a cubic polynomial: steepest descent, whose gradient and step length are derivatives of the loss.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;

struct fit_cubic : program<fit_cubic> {
  in<f64, N> x, y;
  inout<f64, 4> c;  // of 1, x, x^2, x^3
  out<f64> loss;
  constexpr void body() {
    auto value = c(0) + x * (c(1) + x * (c(2) + x * c(3)));
    auto error = value - y;
    auto l = mean(error * error);
    loss = l;
    auto g = grad(l, c);
    auto bend = hvp(l, c, g);              // how the gradient changes along itself
    auto rate = dot(g, g) / dot(g, bend);  // the best step in this direction
    c -= rate * g;
  }
};

static const programs<fit_cubic> exported;
